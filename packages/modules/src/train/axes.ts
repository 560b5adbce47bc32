/**
 * `npm run train-axes -- <folder> [--classes <folder>] [--backend onnx]`: finds the axes on which the modules content and
 * duplicate compare what the networks and they themselves see, from pictures and edits of them, and for content from
 * pictures of one class each in the folders below another. Writes models/content-axes.safetensors and
 * models/duplicate-axes.safetensors; each belongs to one network, and codebooks must be trained anew.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { createRandom } from '@akin/domain';
import { decodeImage, type Pixels } from '@akin/imaging';
import { MIN_SIDE, sharedNetworks } from '../analyzer/analyze-image.ts';
import { writeAxes } from '../axes-file.ts';
import { GRADIENT_AXES, HEAD_NUMBERS, POOL_NUMBERS, SEEN_AXES } from '../content/axes.ts';
import { GRADIENT_NUMBERS, gradientsOf } from '../content/gradients.ts';
import { seenOf } from '../content/join.ts';
import { PATTERN_AXES } from '../duplicate/axes.ts';
import { lookAt } from '../duplicate/look.ts';
import { PATTERN_NUMBERS } from '../duplicate/pattern.ts';
import { readBitmap } from '../eval/bitmap.ts';
import { makeEdits } from '../eval/edits.ts';
import { INNER_RULE } from '../inner-picture.ts';
import type { Backend } from '../network/backend.ts';
import { COPIES_FOLDER, readModel } from '../network/model.ts';
import { type Picture, preparePicture } from '../picture.ts';
import { classFolders, seeClasses } from './class-folders.ts';
import { discriminantAxes, scatterOf } from './discriminant.ts';
import { filesBelow } from './files-below.ts';
import { toRows, withinOne } from './linear.ts';
import { evenAxes, seenAxes } from './seen-axes.ts';

/** So many pictures are edited; more change the axes little. */
const EDITED = 400;
const LONG_SIDE = 320;
const SEED = 1;
/** Edges are compared on axes divided by this power of their variance. */
const GRADIENTS_EVENED = 0.15;
/** How much of an even spread is added to that of copies. */
const PATTERN_EVEN = 0.3;

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { backend: { type: 'string', default: 'wasm' }, classes: { type: 'string' } },
});
const [folder] = positionals;
if (folder === undefined) {
  fail('Usage: npm run train-axes -- <folder of pictures> [--classes <folder of folders>] [--backend wasm|onnx]');
}
const filesOfClasses = options.classes === undefined ? [] : await classFolders(options.classes).catch(fail);

const seen: Float64Array[] = [];
const gradients: Float64Array[] = [];
const patterns: Float64Array[] = [];
const changes: Float64Array[] = [];
let network = '';

const copies = await readModel(COPIES_FOLDER);
const files = await filesBelow(folder);
const step = Math.max(1, Math.floor(files.length / EDITED));
await eachPicture(files, async (picture, bytes, i) => {
  seen.push(await seenIn(picture));
  gradients.push(gradientsOf(picture.square()));
  if (i % step === 0) await addEdits(bytes, patternIn(picture), i);
});
if (seen.length === 0) fail(`${folder} holds no picture that can be read.`);
const classes =
  options.classes === undefined ? [] : await seeClasses(options.classes, filesOfClasses, seenInFiles).catch(fail);
console.log(`${classes.length} classes, ${classes.flat().length} pictures of them`);

console.log(`content: ${await writeAxes('content', network, seen.length, contentTensors())}`);
console.log(`duplicate: ${await writeAxes('duplicate', copies.id, seen.length, duplicateTensors(), INNER_RULE)}`);

function fail(why: unknown): never {
  console.error(why instanceof Error ? why.message : why);
  process.exit(1);
}

async function eachPicture(
  files: readonly string[],
  visit: (picture: Picture, bytes: Uint8Array, index: number) => Promise<void>,
): Promise<void> {
  for (const [i, file] of files.entries()) {
    try {
      const bytes = await readFile(file);
      await visit(await prepare(bytes), bytes, i);
    } catch (error) {
      console.warn(`${file}: ${error instanceof Error ? error.message : error}`);
    }
    if ((i + 1) % 100 === 0) console.log(`${i + 1} of ${files.length} pictures`);
  }
}

async function seenInFiles(files: readonly string[]): Promise<Float64Array[]> {
  const numbers: Float64Array[] = [];
  await eachPicture(files, async (picture) => void numbers.push(await seenIn(picture)));
  return numbers;
}

async function seenIn(picture: Picture): Promise<Float64Array> {
  const { model, heads, pool } = await picture.features();
  network = model;
  return seenOf(heads.content, pool);
}

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
  const main = seenAxes(seen, classes, random);
  const edges = evenAxes(toRows(gradients, GRADIENT_NUMBERS), GRADIENT_AXES, GRADIENTS_EVENED, random);
  return {
    seen_mean: { shape: [HEAD_NUMBERS + POOL_NUMBERS], values: Float32Array.from(main.mean) },
    seen: { shape: [SEEN_AXES, HEAD_NUMBERS + POOL_NUMBERS], values: withinOne(main.axes) },
    gradients_mean: { shape: [GRADIENT_NUMBERS], values: Float32Array.from(edges.mean) },
    gradients: { shape: [GRADIENT_AXES, GRADIENT_NUMBERS], values: withinOne(edges.axes) },
  };
}

function duplicateTensors() {
  const { mean, covariances } = scatterOf(toRows(patterns, PATTERN_NUMBERS), []);
  const pattern = discriminantAxes(covariances, toRows(changes, PATTERN_NUMBERS), PATTERN_AXES, PATTERN_EVEN);
  return {
    pattern_mean: { shape: [PATTERN_NUMBERS], values: mean },
    pattern: { shape: [PATTERN_AXES, PATTERN_NUMBERS], values: withinOne(pattern.axes) },
  };
}
