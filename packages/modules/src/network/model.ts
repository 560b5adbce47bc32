import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { requireRegularFile } from '../weights/require-regular-file.ts';
import { readSafetensors, type Tensors } from '../weights/safetensors.ts';
import { expandSymmetric } from './symmetric.ts';

/** A convolution with its bias and activation. `pad` is the number of zeros on all four sides. */
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
  /** Whether each filter represents eight, one for each orientation: see `symmetric.ts`. */
  readonly symmetric?: boolean;
}

/** relu(b(a(x)) + skip(x)); a missing part is the identity. */
interface Residual {
  readonly op: 'residual';
  readonly a: Conv2d;
  readonly b: Conv2d | null;
  readonly skip: Conv2d | null;
  readonly activation: 'relu';
}

/**
 * A symmetric convolution with activation relu, whose filters are as large as the map. The result is one pixel with the
 * eight results of each filter next to each other.
 */
export interface WholeMap {
  readonly op: 'wholeMap';
  /** Its tensors are `<name>.weight` in HWIO and `<name>.bias`, for one filter of eight. */
  readonly name: string;
  readonly side: number;
  readonly in: number;
  readonly out: number;
}

/** A map of one pixel is split into several of `channels` each, which are then processed like separate pictures. */
interface TakeApart {
  readonly op: 'takeApart';
  readonly channels: number;
}

interface MeanOfParts {
  readonly op: 'meanOfParts';
  readonly count: number;
  readonly channels: number;
}

export type Layer = Conv2d | Residual | WholeMap | TakeApart | MeanOfParts | { readonly op: 'globalAveragePool' };

/** `model.json`: a trunk of layers in order, and a head that turns its pooled output into a unit vector. */
interface ModelSpec {
  readonly id: string;
  readonly input: {
    readonly width: number;
    readonly height: number;
    /**
     * Values of 0 to 1 become (value - mean) / std, by channel. Without these, each picture is standardized separately:
     * each channel to mean 0, and all together to standard deviation 1.
     */
    readonly mean?: readonly number[];
    readonly std?: readonly number[];
  };
  readonly layers: readonly Layer[];
  /** Its tensors are `<name>.weight` and `<name>.bias`. */
  readonly head: { readonly name: string; readonly dim: number; readonly symmetric?: boolean };
  readonly weights: { readonly file: string; readonly sha256: string; readonly bytes: number };
}

export interface Model {
  /**
   * Name and hash of the weights, for example `akin-4:74d3b08d`: two models with the same id give equal vectors, except
   * for rounding.
   */
  readonly id: string;
  readonly spec: ModelSpec;
  readonly tensors: Tensors;
}

export const MODEL_FOLDER = new URL('../../models/network/', import.meta.url);
export const COPIES_FOLDER = new URL('../../models/copies/', import.meta.url);

const MAX_SPEC_MEGABYTES = 64;

/** Reads a model and checks the hash of its weights. @throws Error that names the file and what is wrong with it */
export async function readModel(folder: URL): Promise<Model> {
  requireRegularFile(new URL('model.json', folder), MAX_SPEC_MEGABYTES);
  const spec = JSON.parse(await readFile(new URL('model.json', folder), 'utf8')) as ModelSpec;
  const label = `${spec.id}/${spec.weights.file}`;
  requireRegularFile(new URL(spec.weights.file, folder));
  const bytes = await readFile(new URL(spec.weights.file, folder));
  if (bytes.length !== spec.weights.bytes) {
    throw new Error(`${label} has ${bytes.length} bytes where model.json asks for ${spec.weights.bytes}.`);
  }
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== spec.weights.sha256) {
    throw new Error(`${label} has sha256 ${sha256} where model.json asks for ${spec.weights.sha256}.`);
  }
  const convolutions = spec.layers.flatMap((layer) => {
    if (layer.op === 'residual') return [layer.a, layer.b, layer.skip];
    return layer.op === 'conv2d' ? [layer] : [];
  });
  const symmetric = convolutions.flatMap((layer) => (layer?.symmetric ? [layer.name] : []));
  const head = spec.head.symmetric ? spec.head.name : undefined;
  const tensors = expandSymmetric(symmetric, head, readSafetensors(bytes, label));
  return { id: `${spec.id}:${sha256.slice(0, 8)}`, spec, tensors };
}

export function pooledWidth(layers: readonly Layer[]): number {
  return layers.reduce((width, layer) => {
    if (layer.op === 'conv2d' || layer.op === 'wholeMap') return layer.out;
    if (layer.op === 'residual') return (layer.b ?? layer.a).out;
    return layer.op === 'globalAveragePool' ? width : layer.channels;
  }, 3);
}
