import { cp, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as tf from '@tensorflow/tfjs-core';
import { MODEL_FOLDER, readModel } from './model.ts';
import { type Network, openNetwork } from './network.ts';

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

describe('the network', () => {
  let network: Network;
  beforeAll(async () => {
    network = await openNetwork(await readModel(MODEL_FOLDER));
  });

  it('gives the reference vectors of both heads within 1e-4', async () => {
    const all = await references();
    expect(all).toHaveLength(16);
    for (const { expected, pixels } of all) {
      const features = network.run(pixels);
      expect(maxDifference(features.heads.content, expected.content)).toBeLessThan(1e-4);
      expect(maxDifference(features.heads.duplicate, expected.duplicate)).toBeLessThan(1e-4);
    }
  });

  it('gives the same bits each time and leaves no tensor behind', async () => {
    const [first] = await references();
    if (first === undefined) throw new Error('no reference');
    const once = network.run(first.pixels);
    const tensors = tf.memory().numTensors;
    for (let i = 0; i < 5; i++) expect(network.run(first.pixels)).toEqual(once);
    expect(tf.memory().numTensors).toBe(tensors);
  });

  it('names its vectors by the weights', async () => {
    const [first] = await references();
    expect(first && network.run(first.pixels).model).toBe('akin-1:d52ec204');
  });

  it('refuses pixels of another size', () => {
    expect(() => network.run({ width: 1, height: 1, data: new Uint8Array(3) })).toThrow(
      'takes 128x128 pixels, not 1x1',
    );
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
