import { join } from 'node:path';
import { AkinError } from '@akin/domain';
import { type Pixels, resizeArea } from '@akin/imaging';
import * as tf from '@tensorflow/tfjs-core';
import type { Backend } from '../network/backend.ts';
import { normalizer } from '../network/network.ts';
import { startTensorFlow } from '../network/tfjs-engine.ts';
import type { ModelFiles } from './files.ts';

/** Computes the model's output for a picture. Throws an AkinError when the numbers are not finite. */
export type RunModel = (pixels: Pixels) => Float32Array;

/**
 * With more numbers, computing the axes would take gigabytes and hours. Models that describe pictures have some
 * thousands at most.
 */
const MAX_NUMBERS = 4096;
/** Maximum length of an error message of TensorFlow.js, which may contain the whole model. */
const LONGEST_REASON = 300;

/**
 * Loads a user's model in this thread. It always runs on TensorFlow.js, even if other networks run on ONNX Runtime.
 *
 * @throws {AkinError} bad-request when the model cannot be opened, has no such output, or its output cannot describe
 * pictures.
 */
export async function openModel(folder: string, files: ModelFiles, backend: Backend): Promise<RunModel> {
  await startTensorFlow(backend === 'onnx' ? 'wasm' : backend);
  const { manifest } = files;
  const { width, height, mean, std } = manifest;
  const scale = normalizer(mean, std);
  const values = new Float32Array(width * height * 3);
  let forward: (x: tf.Tensor4D) => tf.Tensor;
  try {
    forward = isGraph(files) ? await openGraph(files) : await openLayers(files);
  } catch (cause) {
    const message = `The model in ${folder} cannot be opened: ${reasonOf(cause)}`;
    throw new AkinError('bad-request', message, { cause });
  }
  const run = (pixels: Pixels) => {
    scale(resizeArea(pixels, width, height).data, values);
    const numbers = tf.tidy(() => vectorOf(forward(tf.tensor4d(values, [1, height, width, 3]))).dataSync<'float32'>());
    if (numbers.every(Number.isFinite)) return numbers;
    throw new AkinError(
      'bad-request',
      'The content model gives numbers that are not finite (NaN or infinity) for this picture.',
    );
  };
  let probe: Float32Array;
  try {
    probe = run({ width: 1, height: 1, data: new Uint8Array(3) });
  } catch (cause) {
    const message = `The model of ${join(folder, manifest.model)} cannot be run on ${width}x${height} pixels: ${reasonOf(cause)}`;
    throw new AkinError('bad-request', message, { cause });
  }
  if (probe.length > 1 && probe.length <= MAX_NUMBERS) return run;
  throw new AkinError(
    'bad-request',
    `The model of ${join(folder, manifest.model)} gives ${probe.length} numbers for a picture, and 2 to ${MAX_NUMBERS} can be used: name the layer or node of such in "output", for example the last pooling.`,
  );
}

/** A model without a format name is recognized by its nodes. */
function isGraph({ topology }: ModelFiles): boolean {
  return topology.format === 'graph-model' || 'node' in topology.modelTopology;
}

function reasonOf(cause: unknown): string {
  const { message } = cause as Error;
  return message.length > LONGEST_REASON ? `${message.slice(0, LONGEST_REASON)}…` : message;
}

/** The output for one picture as a list: a feature map, or a row of patches, is averaged over its positions. */
function vectorOf(output: tf.Tensor): tf.Tensor {
  if (output.rank === 4) return tf.mean(output, [1, 2]);
  return output.rank === 3 ? tf.mean(output, 1) : output;
}

/** Opens a model of `tf.layers`, the format of Keras. */
async function openLayers(files: ModelFiles): Promise<(x: tf.Tensor4D) => tf.Tensor> {
  const layers = await import('@tensorflow/tfjs-layers');
  const loaded = await layers.loadLayersModel(tf.io.fromMemory(artifactsOf(files)));
  const { output } = files.manifest;
  const model = output
    ? layers.model({ inputs: loaded.inputs, outputs: loaded.getLayer(output).output as never })
    : loaded;
  return (x) => firstOf(model.predict(x));
}

/** Opens a frozen graph, as the converter of SavedModels writes it. */
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
