import { join } from 'node:path';
import { AkinError } from '@akin/domain';
import { type Pixels, resizeArea } from '@akin/imaging';
import * as tf from '@tensorflow/tfjs-core';
import type { Backend } from '../network/backend.ts';
import { normalizer } from '../network/network.ts';
import { startTensorFlow } from '../network/tfjs-engine.ts';
import type { ModelFiles } from './files.ts';

/** The numbers that a model gives for a picture. */
export type RunModel = (pixels: Pixels) => Float32Array;

/**
 * Lays a user's model out in this thread. It runs on TensorFlow.js, whatever else runs on ONNX Runtime.
 *
 * @throws {AkinError} bad-request when the model does not open, or has no such output.
 */
export async function openModel(folder: string, files: ModelFiles, backend: Backend): Promise<RunModel> {
  await startTensorFlow(backend === 'onnx' ? 'wasm' : backend);
  const { manifest } = files;
  const { width, height, mean, std } = manifest;
  const scale = normalizer(mean, std);
  const values = new Float32Array(width * height * 3);
  let forward: (x: tf.Tensor4D) => tf.Tensor;
  try {
    forward = files.topology.format === 'graph-model' ? await openGraph(files) : await openLayers(files);
  } catch (cause) {
    const message = `The model in ${folder} does not open: ${(cause as Error).message}`;
    throw new AkinError('bad-request', message, { cause });
  }
  const run = (pixels: Pixels) => {
    scale(resizeArea(pixels, width, height).data, values);
    return tf.tidy(() => vectorOf(forward(tf.tensor4d(values, [1, height, width, 3]))).dataSync<'float32'>());
  };
  try {
    run({ width: 1, height: 1, data: new Uint8Array(3) });
  } catch (cause) {
    const message = `The model of ${join(folder, manifest.model)} does not run on ${width}x${height} pixels: ${(cause as Error).message}`;
    throw new AkinError('bad-request', message, { cause });
  }
  return run;
}

/** The values of one picture as a list: those of a map are averaged over its places. */
function vectorOf(output: tf.Tensor): tf.Tensor {
  return output.rank === 4 ? tf.mean(output, [1, 2]) : output;
}

/** A model of `tf.layers`, such as Keras writes. */
async function openLayers(files: ModelFiles): Promise<(x: tf.Tensor4D) => tf.Tensor> {
  const layers = await import('@tensorflow/tfjs-layers');
  const loaded = await layers.loadLayersModel(tf.io.fromMemory(artifactsOf(files)));
  const { output } = files.manifest;
  const model = output
    ? layers.model({ inputs: loaded.inputs, outputs: loaded.getLayer(output).output as never })
    : loaded;
  return (x) => firstOf(model.predict(x));
}

/** A frozen graph, such as the converter of SavedModels writes. */
async function openGraph(files: ModelFiles): Promise<(x: tf.Tensor4D) => tf.Tensor> {
  const { loadGraphModel } = await import('@tensorflow/tfjs-converter');
  const model = await loadGraphModel(tf.io.fromMemory(artifactsOf(files)));
  const [input] = model.inputs;
  if (input === undefined) throw new Error('it has no input');
  const { output } = files.manifest;
  return (x) => firstOf(model.execute({ [input.name]: x }, output));
}

function artifactsOf({ topology, weights }: ModelFiles): tf.io.ModelArtifacts {
  return {
    ...(topology as object),
    modelTopology: topology.modelTopology,
    weightSpecs: topology.weightsManifest.flatMap((group) => group.weights) as tf.io.WeightsManifestEntry[],
    weightData: weights.buffer,
  };
}

function firstOf(outputs: tf.Tensor | tf.Tensor[] | tf.NamedTensorMap): tf.Tensor {
  if (outputs instanceof tf.Tensor) return outputs;
  const [first] = Object.values(outputs) as tf.Tensor[];
  if (first === undefined) throw new Error('it has no output');
  return first;
}
