import type { Pixels } from '@akin/imaging';
import { l2Normalize } from '../vectors/unit.ts';
import { type Backend, checkBackend } from './backend.ts';
import type { OpenEngine } from './engine.ts';
import { headsOf, type MainHead, type Model } from './model.ts';

/** What one pass over a picture gives. */
export interface Features<Head extends string = MainHead> {
  /** The model's name and the hash of its weights. */
  readonly model: string;
  /** What reaches the heads: the trunk's channels, averaged over the picture. */
  readonly pool: Float32Array;
  /** The unit vector of each head. */
  readonly heads: Readonly<Record<Head, Float32Array>>;
}

export interface Network<Head extends string = MainHead> {
  /** Sides of the pictures that `run` wants, in pixels. */
  readonly width: number;
  readonly height: number;
  /**
   * One pass of the trunk and all heads over each picture, which blocks the thread on wasm (akin-1: some 15 ms). What a
   * picture gives does not depend on the others in its batch.
   */
  run(pictures: readonly Pixels[]): Promise<Features<Head>[]>;
}

/**
 * Starts the backend and lays the weights out in it, once a thread.
 *
 * @throws {AkinError} conflict when the backend is missing or too slow to be of use.
 */
export async function openNetwork<Head extends string>(
  model: Model<Head>,
  backend: Backend = 'wasm',
): Promise<Network<Head>> {
  await checkBackend(backend);
  const open = await engineOf(backend);
  const engine = await open(model);
  const { id, spec } = model;
  const { width, height } = spec.input;
  const size = width * height * 3;
  const { mean, std } = spec.input;
  const scale = mean && std ? normalizer(mean, std) : standardize;
  const heads = headsOf(model);
  return {
    width,
    height,
    async run(pictures) {
      const values = new Float32Array(size * pictures.length);
      for (const [i, pixels] of pictures.entries()) {
        if (pixels.width !== width || pixels.height !== height) {
          throw new Error(`The network takes ${width}x${height} pixels, not ${pixels.width}x${pixels.height}.`);
        }
        scale(pixels.data, values.subarray(i * size, (i + 1) * size));
      }
      const outputs = await engine.run(values, pictures.length);
      const rowOf = (rows: Float32Array, i: number) => {
        const length = rows.length / pictures.length;
        return rows.slice(i * length, (i + 1) * length);
      };
      return pictures.map((_, i) => ({
        model: id,
        pool: rowOf(outputs.pool, i),
        heads: Object.fromEntries(heads.map((head) => [head, l2Normalize(rowOf(outputs[head], i))])) as Record<
          Head,
          Float32Array
        >,
      }));
    },
  };
}

/** Loads the engine of a backend, and no other. */
async function engineOf(backend: Backend): Promise<OpenEngine> {
  if (backend === 'onnx') return (await import('./onnx-engine.ts')).onnxEngine;
  return (await import('./tfjs-engine.ts')).tfjsEngine(backend);
}

/** Bytes to (value/255 - mean) / std, by a table a channel. */
export function normalizer(
  mean: readonly number[],
  std: readonly number[],
): (bytes: Uint8Array, values: Float32Array) => void {
  const tables = [0, 1, 2].map((channel) =>
    Float32Array.from({ length: 256 }, (_, value) => (value / 255 - (mean[channel] ?? 0)) / (std[channel] ?? 1)),
  );
  const [red, green, blue] = tables as [Float32Array, Float32Array, Float32Array];
  return (bytes, values) => {
    for (let i = 0; i < bytes.length; i += 3) {
      values[i] = red[bytes[i] as number] as number;
      values[i + 1] = green[bytes[i + 1] as number] as number;
      values[i + 2] = blue[bytes[i + 2] as number] as number;
    }
  };
}

/** Keeps pictures without contrast from becoming noise. */
const LEAST_DEVIATION = 0.02;

/** Bytes to numbers of mean 0 in each channel and of deviation 1 in all: other light and other warmth fall away. */
function standardize(bytes: Uint8Array, values: Float32Array): void {
  const means = [0, 0, 0];
  for (let i = 0; i < bytes.length; i++) means[i % 3] = (means[i % 3] as number) + (bytes[i] as number);
  const pixels = bytes.length / 3;
  let squares = 0;
  for (let i = 0; i < bytes.length; i++) {
    const value = ((bytes[i] as number) - (means[i % 3] as number) / pixels) / 255;
    values[i] = value;
    squares += value * value;
  }
  const deviation = Math.sqrt(squares / bytes.length) + LEAST_DEVIATION;
  for (let i = 0; i < values.length; i++) values[i] = (values[i] as number) / deviation;
}
