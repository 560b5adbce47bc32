/**
 * `npm run train-axes -- <folder> [--backend onnx]`: finds the axes on which the modules content and duplicate compare
 * what the networks and they themselves see, from pictures and edits of them. Writes models/content-axes.safetensors and
 * models/duplicate-axes.safetensors; each belongs to one network, and codebooks must be trained anew.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { createRandom } from '@akin/domain';
import { decodeImage, type Pixels } from '@akin/imaging';
import { MIN_SIDE, sharedNetworks } from '../analyzer/analyze-image.ts';
import { writeAxes } from '../axes-file.ts';
import { CONTENT_AXES, GRADIENT_AXES, HEAD_NUMBERS, POOL_AXES, POOL_NUMBERS } from '../content/axes.ts';
import { GRADIENT_NUMBERS, gradientsOf } from '../content/gradients.ts';
import { joinViews, rootsOf } from '../content/join.ts';
import { PATTERN_AXES } from '../duplicate/axes.ts';
import { lookAt } from '../duplicate/look.ts';
import { PATTERN_NUMBERS } from '../duplicate/pattern.ts';
import { readBitmap } from '../eval/bitmap.ts';
import { makeEdits } from '../eval/edits.ts';
import { INNER_RULE } from '../inner-picture.ts';
import type { Backend } from '../network/backend.ts';
import { COPIES_FOLDER, readModel } from '../network/model.ts';
import { type Picture, preparePicture } from '../picture.ts';
import { project } from '../project.ts';
import { discriminantAxes } from './discriminant.ts';
import { filesBelow } from './files-below.ts';
import { covariance, mainEigen, mean, type Rows, toRows } from './linear.ts';

/** So many pictures are edited; more change the axes little. */
const EDITED = 400;
const LONG_SIDE = 320;
const SEED = 1;
/**
 * Axes are divided by these powers of their variance: 0 leaves them as they are, 0.5 makes all of like weight. Between
 * them the fine differences count, and noise does not drown the rest.
 */
const POOL_EVENED = 0.35;
const GRADIENTS_EVENED = 0.25;

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { backend: { type: 'string', default: 'wasm' } },
});
const [folder] = positionals;
if (folder === undefined) {
  console.error('Usage: npm run train-axes -- <folder of pictures> [--backend wasm|onnx]');
  process.exit(1);
}

const heads: Float32Array[] = [];
const pools: Float64Array[] = [];
const gradients: Float64Array[] = [];
const patterns: Float64Array[] = [];
const changes: Float64Array[] = [];
let network = '';

const copies = await readModel(COPIES_FOLDER);
const files = await filesBelow(folder);
const step = Math.max(1, Math.floor(files.length / EDITED));
for (const [i, file] of files.entries()) {
  try {
    const bytes = await readFile(file);
    const picture = await prepare(bytes);
    const features = await picture.features();
    network = features.model;
    heads.push(features.heads.content);
    pools.push(rootsOf(features.pool));
    gradients.push(gradientsOf(picture.square()));
    if (i % step === 0) await addEdits(bytes, patternIn(picture), i);
  } catch (error) {
    console.warn(`${file}: ${error instanceof Error ? error.message : error}`);
  }
  if ((i + 1) % 100 === 0) console.log(`${i + 1} of ${files.length} pictures`);
}

console.log(`content: ${await writeAxes('content', network, heads.length, contentTensors())}`);
console.log(`duplicate: ${await writeAxes('duplicate', copies.id, heads.length, duplicateTensors(), INNER_RULE)}`);

async function prepare(bytes: Uint8Array) {
  const { pixels } = await decodeImage(bytes, { minSide: MIN_SIDE });
  return preparePicture(pixels, sharedNetworks(options.backend as Backend));
}

/** Of the first inner square, which every picture has. */
function patternIn(picture: Picture): Float64Array {
  return lookAt(picture.innerSquares()[0] as Pixels).pattern;
}

async function addEdits(bytes: Uint8Array, original: Float64Array, seed: number): Promise<void> {
  patterns.push(original);
  const bitmap = await readBitmap(bytes, LONG_SIDE);
  for (const edited of await makeEdits(bitmap, bitmap, seed)) {
    const pattern = patternIn(await prepare(edited));
    patterns.push(pattern);
    changes.push(pattern.map((value, k) => value - (original[k] as number)));
  }
}

function contentTensors() {
  const random = createRandom(SEED);
  const pool = evenAxes(toRows(pools, POOL_NUMBERS), POOL_AXES, POOL_EVENED, random);
  const edges = evenAxes(toRows(gradients, GRADIENT_NUMBERS), GRADIENT_AXES, GRADIENTS_EVENED, random);
  const joined = heads.map((head, i) =>
    joinViews(
      head,
      project(pool.axes, pools[i] as Float64Array, pool.mean),
      project(edges.axes, gradients[i] as Float64Array, edges.mean),
    ),
  );
  const width = HEAD_NUMBERS + POOL_AXES + GRADIENT_AXES;
  const main = evenAxes(toRows(joined, width), CONTENT_AXES, 0, random);
  return {
    pool_mean: { shape: [POOL_NUMBERS], values: pool.mean },
    pool: { shape: [POOL_AXES, POOL_NUMBERS], values: pool.axes },
    gradients_mean: { shape: [GRADIENT_NUMBERS], values: edges.mean },
    gradients: { shape: [GRADIENT_AXES, GRADIENT_NUMBERS], values: edges.axes },
    joined: { shape: [CONTENT_AXES, width], values: main.axes },
  };
}

function duplicateTensors() {
  const pattern = discriminantAxes(toRows(patterns, PATTERN_NUMBERS), toRows(changes, PATTERN_NUMBERS), PATTERN_AXES);
  return {
    pattern_mean: { shape: [PATTERN_NUMBERS], values: pattern.mean },
    pattern: { shape: [PATTERN_AXES, PATTERN_NUMBERS], values: withinOne(pattern.axes) },
  };
}

/** Principal axes, each divided by a power of its variance. */
function evenAxes(rows: Rows, count: number, power: number, random: () => number) {
  const center = mean(rows);
  const { values, vectors } = mainEigen(covariance(rows, center), rows.width, count, random);
  const axes = vectors.map(
    (value, i) => value / Math.max(values[Math.floor(i / rows.width)] as number, 1e-12) ** power,
  );
  return { mean: Float32Array.from(center), axes: withinOne(axes) };
}

/** Scaled to fit half precision; only directions count. */
function withinOne(axes: Float64Array): Float32Array {
  let largest = 0;
  for (const value of axes) largest = Math.max(largest, Math.abs(value));
  return Float32Array.from(axes, (value) => value / largest);
}
