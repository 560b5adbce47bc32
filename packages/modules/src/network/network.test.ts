import { cp, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Pixels } from '@akin/imaging';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as tf from '@tensorflow/tfjs-core';
import { type NetworkProcess, openProcess } from '../../test/open-process.ts';
import { ORIENTATIONS, oriented } from '../picture/orientations.ts';
import { distance } from '../vectors/unit.ts';
import type { Backend } from './backend.ts';
import { COPIES_FOLDER, MODEL_FOLDER, readModel } from './model.ts';
import { openNetwork } from './network.ts';

interface Reference {
  readonly expected: readonly number[];
  readonly pixels: Pixels;
}

/** The outputs that were computed where the weights were trained, for the stored pictures. */
async function references(folder: URL): Promise<Reference[]> {
  const rgb = new Uint8Array(await readFile(new URL('reference.rgb', folder)));
  const { vectors } = JSON.parse(await readFile(new URL('reference.json', folder), 'utf8')) as {
    vectors: number[][];
  };
  const { width, height } = (await readModel(folder)).spec.input;
  const size = width * height * 3;
  return vectors.map((expected, i) => ({
    expected,
    pixels: { width, height, data: rgb.subarray(i * size, (i + 1) * size) },
  }));
}

function maxDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  return Math.max(...Array.from(a, (value, i) => Math.abs(value - (b[i] as number))));
}

const NETWORKS = [
  ['main', MODEL_FOLDER, 16],
  ['copies', COPIES_FOLDER, 4],
] as const;

// Properties of every backend.
describe.each<[Backend, number]>([
  ['wasm', 8],
  ['onnx', 4],
])('on %s', (backend, most) => {
  let running: NetworkProcess;
  beforeAll(() => {
    running = openProcess(backend);
  });
  afterAll(async () => running[Symbol.asyncDispose]());

  describe.each(NETWORKS)('the network %s', (_, folder, all) => {
    let pictures: Reference[];
    beforeAll(async () => {
      pictures = (await references(folder)).slice(0, most);
    });

    it('gives the reference vectors within 1e-4', async () => {
      expect(pictures).toHaveLength(Math.min(most, all));
      for (const { expected, pixels } of pictures) {
        const [features] = await running.run(folder, [pixels]);
        expect(maxDifference(features?.vector ?? [], expected)).toBeLessThan(1e-4);
      }
    });

    it('gives the same bits each time, alone and among others', async () => {
      const some = pictures.slice(0, 3).map(({ pixels }) => pixels);
      const alone = [];
      for (const pixels of some) alone.push(...(await running.run(folder, [pixels])));
      expect(await running.run(folder, some)).toEqual(alone);
      expect(await running.run(folder, some.toReversed())).toEqual(alone.toReversed());
    });

    it('names its vectors by the weights', async () => {
      const { id } = await readModel(folder);
      const pixels = pictures.slice(0, 1).map((picture) => picture.pixels);
      expect((await running.run(folder, pixels)).map(({ model }) => model)).toEqual([id]);
    });

    it('refuses pixels of another size', async () => {
      const { width, height } = (await readModel(folder)).spec.input;
      await expect(running.run(folder, [{ width: 1, height: 1, data: new Uint8Array(3) }])).rejects.toThrow(
        `takes ${width}x${height} pixels, not 1x1`,
      );
    });
  });
});

describe('the network of TensorFlow.js', () => {
  it('leaves no tensor behind', async () => {
    const network = await openNetwork(await readModel(MODEL_FOLDER));
    const pixels = (await references(MODEL_FOLDER)).slice(0, 2).map((reference) => reference.pixels);
    await network.run(pixels);
    const tensors = tf.memory().numTensors;
    for (let i = 0; i < 5; i++) await network.run(pixels);
    expect(tf.memory().numTensors).toBe(tensors);
  });
});

describe('the copy-detection network', () => {
  it('gives a picture that is rotated, flipped, darker or warmer the same vector', async () => {
    const network = await openNetwork(await readModel(COPIES_FOLDER));
    const [{ pixels }] = (await references(COPIES_FOLDER)) as [Reference];
    const { width: side, data } = pixels;
    const from = (place: (y: number, x: number) => number) => ({
      ...pixels,
      data: Uint8Array.from(
        data,
        (_, i) => data[3 * place(Math.floor(i / 3 / side), Math.floor(i / 3) % side) + (i % 3)] ?? 0,
      ),
    });
    const lit = (light: number, warmth: number) => ({
      ...pixels,
      data: data.map((value, i) => Math.round(20 + light * 0.8 * value + warmth * (1 - (i % 3)))),
    });
    const vectorOf = async (picture: Pixels) => (await network.run([picture]))[0]?.vector as Float32Array;
    const vector = await vectorOf(pixels);
    for (let orientation = 1; orientation < ORIENTATIONS; orientation++) {
      expect(maxDifference(await vectorOf(oriented(pixels, orientation)), vector)).toBeLessThan(1e-4);
    }
    for (const other of [lit(0.5, 0), lit(0.9, 15)]) expect(distance(await vectorOf(other), vector)).toBeLessThan(0.3);
    const shuffled = from((y, x) => ((y + side / 2) % side) * side + ((x + side / 2) % side));
    expect(distance(await vectorOf(shuffled), vector)).toBeGreaterThan(0.5);
  });
});

describe('a model that is damaged', () => {
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

  it('is refused when bytes of its weights are missing', async () => {
    await expect(damaged((file) => truncate(file, 1000))).rejects.toThrow('has 1000 bytes where model.json asks for');
  });

  it('is rejected if a byte of its weights has changed', async () => {
    const flip = async (file: string) => {
      const bytes = await readFile(file);
      bytes[5000] = 255 - (bytes[5000] ?? 0);
      await writeFile(file, bytes);
    };
    await expect(damaged(flip)).rejects.toThrow('has sha256');
  });

  it('names the layer that does not fit the input', async () => {
    await cp(COPIES_FOLDER, folder, { recursive: true });
    const file = join(folder, 'model.json');
    const spec = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...spec, input: { ...spec.input, width: 96 } }));
    const network = await openNetwork(await readModel(pathToFileURL(`${folder}/`)));
    const pixels = { width: 96, height: 64, data: new Uint8Array(96 * 64 * 3) };
    await expect(network.run([pixels])).rejects.toThrow('conv5 sees maps of 4 x 4 x 192, not of 4 x 6 x 192.');
  });
});
