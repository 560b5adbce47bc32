import type { Pixels } from '@akin/imaging';
import '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { l2Normalize } from '../vectors/unit.ts';
import { type Backend, checkBackend, NODE_BACKEND } from './backend.ts';
import type { Conv2d, Layer, Model } from './model.ts';

/** What one pass over a picture gives. */
export interface Features {
  /** The model's name and the hash of its weights. */
  readonly model: string;
  /** What reaches the heads: the trunk's channels, averaged over the picture. */
  readonly pool: Float32Array;
  /** The unit vector of each head. */
  readonly heads: { readonly content: Float32Array; readonly duplicate: Float32Array };
}

export interface Network {
  /** Sides of the picture that `run` wants, in pixels. */
  readonly width: number;
  readonly height: number;
  /** One pass of the trunk and all heads: blocks the thread for some 20 ms. */
  run(pixels: Pixels): Features;
}

/**
 * Starts the backend and lays the weights out in it, once a thread. Throws an Error when the backend is missing or is
 * too slow to be of use.
 */
export async function openNetwork(model: Model, backend: Backend = 'wasm'): Promise<Network> {
  await startBackend(backend);
  const { id, spec, tensors } = model;
  const { width, height } = spec.input;
  const normalize = normalizer(spec.input.mean, spec.input.std);
  const trunk = spec.layers.map((layer) => buildLayer(layer, model));
  const pooled = lastWidth(spec.layers);
  const head = (name: keyof Features['heads']) => {
    const { dim } = spec.heads[name];
    const weight = tf.tensor2d(tensors.get(`${name}.weight`, [pooled, dim]), [pooled, dim]);
    const bias = tf.tensor1d(tensors.get(`${name}.bias`, [dim]));
    return (pool: tf.Tensor2D) => l2Normalize(tf.add(tf.matMul(pool, weight), bias).dataSync<'float32'>());
  };
  const content = head('content');
  const duplicate = head('duplicate');

  return {
    width,
    height,
    run(pixels) {
      if (pixels.width !== width || pixels.height !== height) {
        throw new Error(`The network takes ${width}x${height} pixels, not ${pixels.width}x${pixels.height}.`);
      }
      return tf.tidy(() => {
        let x = tf.tensor4d(normalize(pixels.data), [1, height, width, 3]);
        for (const layer of trunk) x = layer(x);
        const pool = tf.reshape<tf.Rank.R2>(x, [1, pooled]);
        return {
          model: id,
          pool: pool.dataSync<'float32'>(),
          heads: { content: content(pool), duplicate: duplicate(pool) },
        };
      });
    },
  };
}

async function startBackend(backend: Backend): Promise<void> {
  checkBackend(backend);
  // By a variable, so that the compiler does not look for a package that need not be there.
  const name = NODE_BACKEND;
  if (backend === 'node') await import(name);
  const engine = backend === 'node' ? 'tensorflow' : 'wasm';
  if (!(await tf.setBackend(engine))) throw new Error(`The backend ${engine} of TensorFlow.js does not start.`);
}

type Step = (x: tf.Tensor4D) => tf.Tensor4D;

function buildLayer(layer: Layer, model: Model): Step {
  switch (layer.op) {
    case 'conv2d':
      return buildConv2d(layer, model);
    case 'residual': {
      const a = buildConv2d(layer.a, model);
      const b = buildConv2d(layer.b, model);
      const skip = layer.skip === null ? (x: tf.Tensor4D) => x : buildConv2d(layer.skip, model);
      return (x) => tf.relu(tf.add(b(a(x)), skip(x)));
    }
    case 'globalAveragePool':
      // Over the whole map: ten times as fast as a mean over two axes.
      return (x) => tf.avgPool(x, [x.shape[1], x.shape[2]], 1, 'valid');
    default:
      throw new Error(`${model.spec.id}/model.json has an unknown layer: ${JSON.stringify(layer satisfies never)}`);
  }
}

function buildConv2d(layer: Conv2d, { tensors }: Model): Step {
  const shape: [number, number, number, number] = [layer.kernel[0], layer.kernel[1], layer.in, layer.out];
  const filter = tf.tensor4d(tensors.get(`${layer.name}.weight`, shape), shape);
  const bias = tf.tensor1d(tensors.get(`${layer.name}.bias`, [layer.out]));
  const { stride: strides, pad, activation } = layer;
  // A number as `pad` means symmetric zeros; TensorFlow's "same" would shift a stride of 2 by one pixel.
  return (x) => tf.fused.conv2d({ x, filter, strides, pad, dimRoundingMode: 'floor', bias, activation });
}

/** The number of channels that reach the heads. */
function lastWidth(layers: readonly Layer[]): number {
  return layers.reduce((width, layer) => {
    if (layer.op === 'conv2d') return layer.out;
    return layer.op === 'residual' ? layer.b.out : width;
  }, 3);
}

/** Bytes to (value/255 - mean) / std, by a table a channel. */
function normalizer(mean: readonly number[], std: readonly number[]): (bytes: Uint8Array) => Float32Array {
  const tables = [0, 1, 2].map((channel) =>
    Float32Array.from({ length: 256 }, (_, value) => (value / 255 - (mean[channel] ?? 0)) / (std[channel] ?? 1)),
  );
  const [red, green, blue] = tables as [Float32Array, Float32Array, Float32Array];
  return (bytes) => {
    const values = new Float32Array(bytes.length);
    for (let i = 0; i < bytes.length; i += 3) {
      values[i] = red[bytes[i] as number] as number;
      values[i + 1] = green[bytes[i + 1] as number] as number;
      values[i + 2] = blue[bytes[i + 2] as number] as number;
    }
    return values;
  };
}
