import { join } from 'node:path';
import { AkinError } from '@akin/domain';
import { type Pixels, resizeArea } from '@akin/imaging';
import * as tf from '@tensorflow/tfjs-core';
import type { Backend } from '../network/backend.ts';
import { normalizer } from '../network/network.ts';
import { startTensorFlow } from '../network/tfjs-engine.ts';
import type { ModelFiles } from './files.ts';

/** The numbers that a model gives for a picture. Throws an AkinError when they are not finite. */
export type RunModel = (pixels: Pixels) => Float32Array;

/** The axes of more would take gigabytes and hours to find, and models that describe pictures have some thousands at most. */
const MOST_NUMBERS = 4096;
/** Of what TensorFlow.js says about a model, which may be all of it. */
const LONGEST_REASON = 300;

/**
 * Lays a user's model out in this thread. It runs on TensorFlow.js, whatever else runs on ONNX Runtime.
 *
 * @throws {AkinError} bad-request when the model does not open, has no such output, or gives nothing to tell pictures by.
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
  if (probe.length > 1 && probe.length <= MOST_NUMBERS) return run;
  throw new AkinError(
    'bad-request',
    `The model of ${join(folder, manifest.model)} gives ${probe.length} numbers for a picture, and 2 to ${MOST_NUMBERS} can be used: name the layer or node of such in "output", for example the last pooling.`,
  );
}

/** Those that lack the name of their format are known by their nodes. */
function isGraph({ topology }: ModelFiles): boolean {
  return topology.format === 'graph-model' || 'node' in topology.modelTopology;
}

function reasonOf(cause: unknown): string {
  const { message } = cause as Error;
  return message.length > LONGEST_REASON ? `${message.slice(0, LONGEST_REASON)}…` : message;
}

/** The values of one picture as a list: those of a map, or of a row of patches, are averaged over its places. */
function vectorOf(output: tf.Tensor): tf.Tensor {
  if (output.rank === 4) return tf.mean(output, [1, 2]);
  return output.rank === 3 ? tf.mean(output, 1) : output;
}

/** A model of `tf.layers`, as Keras writes it. */
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
