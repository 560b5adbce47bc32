import type { Pixels } from '@akin/imaging';
import { l2Normalize } from '../vectors/unit.ts';
import { type Backend, checkBackend } from './backend.ts';
import type { OpenEngine } from './engine.ts';
import type { Model } from './model.ts';

export interface Features {
  /** The model's name and the hash of its weights. */
  readonly model: string;
  /** The input of the head: the trunk's channels, averaged over the picture. */
  readonly pool: Float32Array;
  /** The output of the head, of length 1. */
  readonly vector: Float32Array;
}

export interface Network {
  readonly width: number;
  readonly height: number;
  /**
   * Runs the trunk and the head on each picture; blocks the thread on wasm (akin-1: some 15 ms). The result for a
   * picture does not depend on the others in the batch.
   */
  run(pictures: readonly Pixels[]): Promise<Features[]>;
}

/**
 * Starts the backend and loads the weights into it, once for each thread.
 *
 * @throws {AkinError} conflict when the backend is missing.
 */
export async function openNetwork(model: Model, backend: Backend = 'wasm'): Promise<Network> {
  await checkBackend(backend);
  const open = await engineOf(backend);
  const engine = await open(model);
  const { id, spec } = model;
  const { width, height } = spec.input;
  const size = width * height * 3;
  const { mean, std } = spec.input;
  const scale = mean && std ? normalizer(mean, std) : standardize;
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
        vector: l2Normalize(rowOf(outputs.vector, i)),
      }));
    },
  };
}

async function engineOf(backend: Backend): Promise<OpenEngine> {
  if (backend === 'onnx') return (await import('./onnx-engine.ts')).onnxEngine;
  return (await import('./tfjs-engine.ts')).tfjsEngine;
}

/** Converts bytes to (value/255 - mean) / std, with a table for each channel. */
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

/** Least divisor: without it, a picture without contrast would become noise. */
const MIN_DEVIATION = 0.02;

/**
 * Standardizes bytes to mean 0 in each channel and standard deviation 1 over all: removes differences of brightness and
 * white balance.
 */
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
  const deviation = Math.sqrt(squares / bytes.length) + MIN_DEVIATION;
  for (let i = 0; i < values.length; i++) values[i] = (values[i] as number) / deviation;
}
