import { copyFile, readFile } from 'node:fs/promises';
import type { Pixels } from '@akin/imaging';
import { HEAD_DIMENSIONS, POOL_DIMENSIONS } from '@akin/modules/internal/content/axes';
import type { Backend } from '@akin/modules/internal/network/backend';
import { MODEL_FOLDER, pooledWidth, readModel } from '@akin/modules/internal/network/model';
import { openNetwork } from '@akin/modules/internal/network/network';

/**
 * The content of `reference.json` in the folder of a model: the expected outputs for the pictures of `reference.rgb`.
 */
export interface Reference {
  readonly tolerance: number;
  readonly vectors: readonly (readonly number[])[];
}

/**
 * Checks a main network with the structure of akin's own: its hash, the sizes of head and channels that the modules
 * expect, and its outputs against the reference next to it.
 *
 * @returns its name.
 * @throws Error that says what is wrong.
 */
export async function checkModel(folder: URL, backend: Backend): Promise<string> {
  const model = await readModel(folder);
  const { head, layers, input, weights } = model.spec;
  // The files are copied under this name.
  if (!/^\w[\w.-]*$/.test(weights.file)) {
    throw new Error(`model.json does not name its weights as a file in its folder: ${weights.file}`);
  }
  const sizes = `${head.dim} and ${pooledWidth(layers)}`;
  const wanted = `${HEAD_DIMENSIONS} and ${POOL_DIMENSIONS}`;
  if (sizes !== wanted) {
    throw new Error(
      `${model.id} has another layout: head and channels have ${sizes} numbers, and akin needs ${wanted}.`,
    );
  }
  const { tolerance, vectors } = JSON.parse(await readFile(new URL('reference.json', folder), 'utf8')) as Reference;
  const rgb = new Uint8Array(await readFile(new URL('reference.rgb', folder)));
  const network = await openNetwork(model, backend);
  const size = 3 * input.width * input.height;
  if (vectors.length === 0 || rgb.length !== size * vectors.length) {
    throw new Error(`reference.rgb does not contain the ${vectors.length} pictures of reference.json.`);
  }
  for (const [i, expected] of vectors.entries()) {
    const pixels: Pixels = { ...input, data: rgb.subarray(i * size, (i + 1) * size) };
    const [features] = await network.run([pixels]);
    const apart = farthest(features?.vector ?? [], expected);
    if (!(apart <= tolerance)) {
      throw new Error(
        `${model.id} gives for reference ${i} another vector than reference.json: ${apart} apart, and ${tolerance} is allowed.`,
      );
    }
  }
  return model.id;
}

/** Copies a checked network over akin's main network. Its axes and codebooks must be trained afterwards. */
export async function installModel(folder: URL): Promise<void> {
  const { spec } = await readModel(folder);
  for (const file of [spec.weights.file, 'reference.rgb', 'reference.json', 'model.json']) {
    await copyFile(new URL(file, folder), new URL(file, MODEL_FOLDER));
  }
}

/** The largest absolute difference of two lists; NaN for lists of different lengths. */
function farthest(a: ArrayLike<number>, b: readonly number[]): number {
  if (a.length !== b.length) return Number.NaN;
  return b.reduce((most, value, i) => Math.max(most, Math.abs(value - (a[i] as number))), 0);
}
