import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { readSafetensors, type Tensors } from '../safetensors.ts';

/** A convolution with its bias and activation. `pad` is symmetric zeros on all four sides. */
export interface Conv2d {
  readonly op: 'conv2d';
  /** Its tensors are `<name>.weight` in HWIO and `<name>.bias`. */
  readonly name: string;
  readonly kernel: readonly [number, number];
  readonly in: number;
  readonly out: number;
  readonly stride: number;
  readonly pad: number;
  readonly activation: 'relu' | 'linear';
}

/** relu(b(a(x)) + skip(x)), where a missing skip is x itself. */
interface Residual {
  readonly op: 'residual';
  readonly a: Conv2d;
  readonly b: Conv2d;
  readonly skip: Conv2d | null;
  readonly activation: 'relu';
}

export type Layer = Conv2d | Residual | { readonly op: 'globalAveragePool' };

/** `model.json`: a trunk of layers in order, and heads that each turn its pooled output into a unit vector. */
interface ModelSpec {
  readonly id: string;
  readonly input: {
    readonly width: number;
    readonly height: number;
    readonly mean: readonly [number, number, number];
    readonly std: readonly [number, number, number];
  };
  readonly layers: readonly Layer[];
  readonly heads: Readonly<Record<'content' | 'duplicate', { readonly dim: number }>>;
  readonly weights: { readonly file: string; readonly sha256: string; readonly bytes: number };
}

export interface Model {
  /** Name and hash of the weights, such as `akin-1:d52ec204`: two models with one id give equal vectors. */
  readonly id: string;
  readonly spec: ModelSpec;
  readonly tensors: Tensors;
}

/** The model that akin ships. */
export const MODEL_FOLDER = new URL('../../models/network/', import.meta.url);

/** Reads a model and checks its weights to the last byte. Throws an Error that says what is wrong with which file. */
export async function readModel(folder: URL): Promise<Model> {
  const spec = JSON.parse(await readFile(new URL('model.json', folder), 'utf8')) as ModelSpec;
  const label = `${spec.id}/${spec.weights.file}`;
  const bytes = await readFile(new URL(spec.weights.file, folder));
  if (bytes.length !== spec.weights.bytes) {
    throw new Error(`${label} has ${bytes.length} bytes where model.json asks for ${spec.weights.bytes}.`);
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== spec.weights.sha256) {
    throw new Error(`${label} has sha256 ${sha256} where model.json asks for ${spec.weights.sha256}.`);
  }
  return { id: `${spec.id}:${sha256.slice(0, 8)}`, spec, tensors: readSafetensors(bytes, label) };
}

/** The number of channels that reach the heads. */
export function pooledWidth(layers: readonly Layer[]): number {
  return layers.reduce((width, layer) => {
    if (layer.op === 'conv2d') return layer.out;
    return layer.op === 'residual' ? layer.b.out : width;
  }, 3);
}
