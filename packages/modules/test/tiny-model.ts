import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import '@tensorflow/tfjs-backend-wasm';
import * as tf from '@tensorflow/tfjs-core';
import * as layers from '@tensorflow/tfjs-layers';

/**
 * Saves a small model of `tf.layers` with its manifest, as a user would: input 48 x 48 pixels, output 10 numbers.
 * `spoil` changes its weights.
 */
export async function saveTinyModel(
  folder: string,
  manifest: Record<string, unknown> = {},
  spoil?: (weights: Float32Array) => void,
): Promise<void> {
  await tf.setBackend('wasm');
  const seeded = (seed: number) => layers.initializers.glorotUniform({ seed });
  const model = layers.sequential({
    layers: [
      layers.layers.conv2d({
        inputShape: [48, 48, 3],
        filters: 6,
        kernelSize: 5,
        strides: 4,
        activation: 'relu',
        kernelInitializer: seeded(1),
      }),
      layers.layers.separableConv2d({
        filters: 10,
        kernelSize: 3,
        activation: 'relu6',
        depthwiseInitializer: seeded(2),
        pointwiseInitializer: seeded(3),
        name: 'last_map',
      }),
      layers.layers.upSampling2d({ size: [3, 3] }),
      layers.layers.flatten({ name: 'wide' }),
      layers.layers.dense({ units: 3, activation: 'softmax', kernelInitializer: seeded(4) }),
    ],
  });
  await mkdir(folder, { recursive: true });
  await model.save(
    tf.io.withSaveHandler(async ({ modelTopology, weightSpecs, weightData }) => {
      const data = new Uint8Array(weightData as ArrayBuffer);
      spoil?.(new Float32Array(weightData as ArrayBuffer));
      // The weights are split into two files, as in larger models.
      const half = data.length >> 1;
      await writeFile(join(folder, 'group1-shard1of2.bin'), data.subarray(0, half));
      await writeFile(join(folder, 'group1-shard2of2.bin'), data.subarray(half));
      const paths = ['group1-shard1of2.bin', 'group1-shard2of2.bin'];
      const weightsManifest = [{ paths, weights: weightSpecs }];
      await writeFile(
        join(folder, 'model.json'),
        JSON.stringify({ format: 'layers-model', modelTopology, weightsManifest }),
      );
      return { modelArtifactsInfo: { dateSaved: new Date(), modelTopologyType: 'JSON' } };
    }),
  );
  model.dispose();
  await writeFile(
    join(folder, 'content-model.json'),
    JSON.stringify({
      name: 'tiny',
      version: '7',
      input: { width: 48, height: 48, mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] },
      output: 'last_map',
      ...manifest,
    }),
  );
}

/** Saves a small frozen graph with its manifest: input 32 x 32 pixels, output a map of 5 channels. */
export async function saveTinyGraph(folder: string): Promise<void> {
  const text = (value: string) => ({ s: Buffer.from(value).toString('base64') });
  const shape = (sides: number[]) => ({ dim: sides.map((size) => ({ size: String(size) })) });
  const float = { type: 'DT_FLOAT' };
  const kernel = Float32Array.from({ length: 3 * 3 * 3 * 5 }, (_, i) => Math.sin(i * i));
  const value = { tensor: { dtype: 'DT_FLOAT', tensorShape: shape([3, 3, 3, 5]) } };
  const modelTopology = {
    node: [
      { name: 'x', op: 'Placeholder', attr: { dtype: float, shape: { shape: shape([-1, 32, 32, 3]) } } },
      { name: 'kernel', op: 'Const', attr: { dtype: float, value } },
      {
        name: 'map',
        op: 'Conv2D',
        input: ['x', 'kernel'],
        attr: {
          T: float,
          strides: { list: { i: ['1', '2', '2', '1'] } },
          padding: text('VALID'),
          dataFormat: text('NHWC'),
          dilations: { list: { i: ['1', '1', '1', '1'] } },
        },
      },
      { name: 'features', op: 'Relu', input: ['map'], attr: { T: float } },
    ],
    versions: { producer: 1 },
  };
  const weights = [{ name: 'kernel', shape: [3, 3, 3, 5], dtype: 'float32' }];
  await writeFile(join(folder, 'weights.bin'), new Uint8Array(kernel.buffer));
  await writeFile(
    join(folder, 'graph.json'),
    JSON.stringify({ format: 'graph-model', modelTopology, weightsManifest: [{ paths: ['weights.bin'], weights }] }),
  );
  await writeFile(
    join(folder, 'content-model.json'),
    JSON.stringify({
      name: 'graph',
      version: '1',
      model: 'graph.json',
      input: { width: 32, height: 32 },
      output: 'features',
    }),
  );
}
