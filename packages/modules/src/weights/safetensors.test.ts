import { roundToHalves } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { readSafetensors, writeSafetensors } from './safetensors.ts';

const file = () =>
  writeSafetensors(
    { a: { shape: [2, 2], values: [1, 2, 3, 0.1] }, b: { shape: [3], values: [-1, 0, 1] } },
    { made: 'by hand' },
  );

describe('safetensors', () => {
  it('returns what was written, in half precision', () => {
    const tensors = readSafetensors(file(), 'x');
    expect(tensors.metadata).toEqual({ made: 'by hand' });
    expect(tensors.get('a', [2, 2])).toEqual(roundToHalves([1, 2, 3, 0.1]));
    expect(tensors.get('b', [3])).toEqual(new Float32Array([-1, 0, 1]));
  });

  it('reads single precision at any alignment', () => {
    const header = new TextEncoder().encode('{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}');
    const bytes = new Uint8Array(1 + 8 + header.length + 4);
    const view = new DataView(bytes.buffer);
    view.setBigUint64(1, BigInt(header.length), true);
    bytes.set(header, 9);
    view.setFloat32(9 + header.length, 0.1, true);
    expect(readSafetensors(Buffer.from(bytes.buffer, 1), 'x').get('a', [1])).toEqual(new Float32Array([0.1]));
  });

  it.each([
    ['is empty', () => new Uint8Array(), 'x is not a safetensors file.'],
    ['has a header that is longer than the file', () => new Uint8Array(8).fill(255), 'x is not a safetensors file.'],
    ['is cut off', () => file().subarray(0, -1), 'x is damaged: '],
    ['has bytes too many', () => Buffer.concat([file(), new Uint8Array(1)]), 'x is damaged: '],
  ])('says so when a file %s', (_, bytes, message) => {
    expect(() => readSafetensors(bytes(), 'x')).toThrow(message);
  });

  it('names a tensor that is missing or has another shape', () => {
    const tensors = readSafetensors(file(), 'x');
    expect(() => tensors.get('c', [1])).toThrow('x has no tensor c.');
    expect(() => tensors.get('a', [4])).toThrow('x: tensor a has shape [2,2] where [4] is expected.');
  });
});
