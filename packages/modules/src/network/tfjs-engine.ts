import '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import { ORIENTATIONS } from '../picture/orientations.ts';
import type { EngineOutputs, OpenEngine } from './engine.ts';
import { type Conv2d, type Layer, type Model, pooledWidth, type WholeMap } from './model.ts';
import { indexesInAllOrientations } from './symmetric.ts';

/** The engine of TensorFlow.js. */
export const tfjsEngine: OpenEngine = async (model) => {
  if (!(await tf.setBackend('wasm'))) throw new Error('The backend wasm of TensorFlow.js does not start.');
  const { spec } = model;
  const { width, height } = spec.input;
  const pooled = pooledWidth(spec.layers);
  const trunk = spec.layers.map((layer) => buildLayer(layer, model));
  const head = buildHead(model, pooled);
  return {
    async run(values, count) {
      let outputs!: EngineOutputs;
      // The callback returns nothing, because `tidy` would search the result for tensors to keep, number by number.
      tf.tidy(() => {
        let x = tf.tensor4d(values, [count, height, width, 3]);
        for (const layer of trunk) x = layer(x);
        const pool = tf.reshape<tf.Rank.R2>(x, [count, pooled]);
        outputs = { pool: pool.dataSync<'float32'>(), vector: head(pool).dataSync<'float32'>() };
      });
      return outputs;
    },
  };
};

type Step = (x: tf.Tensor4D) => tf.Tensor4D;

function buildLayer(layer: Layer, model: Model): Step {
  switch (layer.op) {
    case 'conv2d':
      return buildConv2d(layer, model);
    case 'residual': {
      const a = buildConv2d(layer.a, model);
      const [b, skip] = [layer.b, layer.skip].map((conv) => (conv ? buildConv2d(conv, model) : (x) => x)) as [
        Step,
        Step,
      ];
      return (x) => tf.relu(tf.add(b(a(x)), skip(x)));
    }
    case 'wholeMap':
      return buildWholeMap(layer, model);
    case 'takeApart':
      return (x) => tf.reshape(x, [-1, 1, 1, layer.channels]);
    case 'meanOfParts':
      return (x) =>
        tf.reshape(tf.mean(tf.reshape(x, [-1, layer.count, layer.channels]), 1), [-1, 1, 1, layer.channels]);
    case 'globalAveragePool':
      // Average pooling over the whole map is ten times as fast as a mean over two axes.
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

/** The orientations of the map are computed here, because `tf.gather` takes longer than the convolution. */
function buildWholeMap({ name, side, in: ins, out }: WholeMap, { tensors }: Model): Step {
  const indexes = indexesInAllOrientations(side, ins);
  const [size, filters] = [side * side * ins, out / ORIENTATIONS];
  const filter = tf.tensor4d(tensors.get(`${name}.weight`, [side, side, ins, filters]), [1, 1, size, filters]);
  const bias = tf.tensor1d(tensors.get(`${name}.bias`, [filters]));
  return (x) => {
    const [count, height, width, channels] = x.shape;
    if (height !== side || width !== side || channels !== ins) {
      throw new Error(`${name} sees maps of ${side} x ${side} x ${ins}, not of ${height} x ${width} x ${channels}.`);
    }
    const maps = x.dataSync<'float32'>();
    const turned = new Float32Array(count * indexes.length);
    for (let i = 0, map = 0; map < maps.length; map += size) {
      for (const index of indexes) turned[i++] = maps[map + index] as number;
    }
    const seen = tf.tensor4d(turned, [count, ORIENTATIONS, 1, size]);
    const outputs = tf.fused.conv2d({ x: seen, filter, strides: 1, pad: 'valid', bias, activation: 'relu' });
    return tf.reshape(tf.transpose(outputs, [0, 2, 3, 1]), [count, 1, 1, out]);
  };
}

function buildHead({ spec, tensors }: Model, pooled: number): (pool: tf.Tensor2D) => tf.Tensor {
  const { name, dim } = spec.head;
  const weight = tf.tensor2d(tensors.get(`${name}.weight`, [pooled, dim]), [pooled, dim]);
  const bias = tf.tensor1d(tensors.get(`${name}.bias`, [dim]));
  return (pool) => tf.add(tf.matMul(pool, weight), bias);
}
