import { cp, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as tf from '@tensorflow/tfjs-core';
import { type NetworkThread, openThread } from '../../test/open-thread.ts';
import type { Backend } from './backend.ts';
import { MODEL_FOLDER, readModel } from './model.ts';
import { openNetwork } from './network.ts';

const SIDE = 128;

async function references() {
  const rgb = new Uint8Array(await readFile(new URL('reference.rgb', MODEL_FOLDER)));
  const { vectors } = JSON.parse(await readFile(new URL('reference.json', MODEL_FOLDER), 'utf8')) as {
    vectors: { photo: string; content: number[]; duplicate: number[] }[];
  };
  const size = SIDE * SIDE * 3;
  return vectors.map((expected, i) => ({
    expected,
    pixels: { width: SIDE, height: SIDE, data: rgb.subarray(i * size, (i + 1) * size) },
  }));
}

function maxDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  return Math.max(...Array.from(a, (value, i) => Math.abs(value - (b[i] as number))));
}

// What every backend keeps. @tensorflow/tfjs-node is not among them: its installation downloads.
describe.each<[Backend, number]>([
  ['wasm', 16],
  ['wasm-plain', 4],
  ['onnx', 16],
  // Some hundred times slower.
  ['cpu', 1],
])('the network on %s', (backend, count) => {
  let network: NetworkThread;
  let pictures: Awaited<ReturnType<typeof references>>;
  beforeAll(async () => {
    network = openThread(backend);
    pictures = (await references()).slice(0, count);
  });
  afterAll(async () => network[Symbol.asyncDispose]());

  it('gives the reference vectors of both heads within 1e-4', async () => {
    expect(pictures).toHaveLength(count);
    for (const { expected, pixels } of pictures) {
      const [features] = await network.run([pixels]);
      expect(maxDifference(features?.heads.content ?? [], expected.content)).toBeLessThan(1e-4);
      expect(maxDifference(features?.heads.duplicate ?? [], expected.duplicate)).toBeLessThan(1e-4);
    }
  });

  it('gives the same bits each time, alone and among others', async () => {
    const some = pictures.slice(0, 3).map(({ pixels }) => pixels);
    const alone = [];
    for (const pixels of some) alone.push(...(await network.run([pixels])));
    expect(await network.run(some)).toEqual(alone);
    expect(await network.run(some.toReversed())).toEqual(alone.toReversed());
  });

  it('names its vectors by the weights', async () => {
    const { id } = await readModel(MODEL_FOLDER);
    for (const { model } of await network.run(pictures.slice(0, 1).map(({ pixels }) => pixels))) expect(model).toBe(id);
  });

  it('refuses pixels of another size', async () => {
    await expect(network.run([{ width: 1, height: 1, data: new Uint8Array(3) }])).rejects.toThrow(
      'takes 128x128 pixels, not 1x1',
    );
  });
});

describe('the network of TensorFlow.js', () => {
  it('leaves no tensor behind', async () => {
    const network = await openNetwork(await readModel(MODEL_FOLDER));
    const pixels = (await references()).slice(0, 2).map((reference) => reference.pixels);
    await network.run(pixels);
    const tensors = tf.memory().numTensors;
    for (let i = 0; i < 5; i++) await network.run(pixels);
    expect(tf.memory().numTensors).toBe(tensors);
  });
});

describe('weights that are damaged', () => {
  let folder: string;
  const damaged = async (damage: (file: string) => Promise<void>) => {
    await cp(MODEL_FOLDER, folder, { recursive: true });
    await damage(join(folder, 'trunk.safetensors'));
    return readModel(pathToFileURL(`${folder}/`));
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'akin-model-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('are refused when bytes are missing', async () => {
    await expect(damaged((file) => truncate(file, 1000))).rejects.toThrow('has 1000 bytes where model.json asks for');
  });

  it('are refused when a byte is another', async () => {
    const flip = async (file: string) => {
      const bytes = await readFile(file);
      bytes[5000] = 255 - (bytes[5000] ?? 0);
      await writeFile(file, bytes);
    };
    await expect(damaged(flip)).rejects.toThrow('has sha256');
  });
});
