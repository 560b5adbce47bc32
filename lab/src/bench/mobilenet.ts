import * as tf from '@tensorflow/tfjs-core';

/** Expansion, channels, repetitions and first stride of each stage (Sandler et al. 2018, table 2). */
const STAGES = [
  [1, 16, 1, 1],
  [6, 24, 2, 2],
  [6, 32, 3, 2],
  [6, 64, 4, 2],
  [6, 96, 3, 1],
  [6, 160, 3, 2],
  [6, 320, 1, 1],
] as const;

/** Side of the input pictures, in pixels. */
const SIDE = 224;

type Step = (x: tf.Tensor4D) => tf.Tensor4D;

/**
 * MobileNetV2-1.0 without its classifier, with batch normalization folded, to compare its time with that of the
 * network. Its weights are random, which takes as long as trained ones.
 */
export function buildMobileNet(): { run(values: Float32Array): Float32Array; parameters: number } {
  let parameters = 0;
  const weights = (shape: [number, number, number, number]) => {
    parameters += shape.reduce((product, size) => product * size, 1);
    return tf.randomNormal<tf.Rank.R4>(shape, 0, Math.sqrt(2 / (shape[0] * shape[1] * shape[2])), 'float32', 1);
  };
  const conv = (from: number, to: number, size: number, strides: number, activation: 'relu6' | 'linear'): Step => {
    const [filter, bias] = [weights([size, size, from, to]), tf.zeros<tf.Rank.R1>([to])];
    parameters += to;
    return (x) => tf.fused.conv2d({ x, filter, bias, strides, pad: 'same', activation });
  };
  const depthwise = (channels: number, strides: number): Step => {
    const [filter, bias] = [weights([3, 3, channels, 1]), tf.zeros<tf.Rank.R1>([channels])];
    parameters += channels;
    return (x) => tf.fused.depthwiseConv2d({ x, filter, bias, strides, pad: 'same', activation: 'relu6' });
  };

  const steps: Step[] = [conv(3, 32, 3, 2, 'relu6')];
  let from = 32;
  for (const [expansion, to, repetitions, firstStride] of STAGES) {
    for (let i = 0; i < repetitions; i++) {
      const wide = from * expansion;
      const stride = i === 0 ? firstStride : 1;
      const block = [
        ...(expansion > 1 ? [conv(from, wide, 1, 1, 'relu6')] : []),
        depthwise(wide, stride),
        conv(wide, to, 1, 1, 'linear'),
      ];
      const through: Step = (x) => block.reduce((y, step) => step(y), x);
      steps.push(stride === 1 && from === to ? (x) => tf.add(x, through(x)) : through);
      from = to;
    }
  }
  steps.push(conv(from, 1280, 1, 1, 'relu6'));
  return {
    parameters,
    run: (values) =>
      tf.tidy(() => {
        const map = steps.reduce((x, step) => step(x), tf.tensor4d(values, [1, SIDE, SIDE, 3]));
        return tf.avgPool(map, [map.shape[1], map.shape[2]], 1, 'valid').dataSync<'float32'>();
      }),
  };
}
