/**
 * `npm run train-pattern -- <folder>`: finds the axes on which the duplicate module compares patterns, from pictures and
 * edits of them, and writes models/pattern-1.safetensors. Needs no network. A new network needs no new axes.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeImage } from '@akin/imaging';
import { MIN_SIDE } from '../analyzer/analyze-image.ts';
import { PATTERN_AXES, PATTERN_FILE } from '../duplicate/axes.ts';
import { PATTERN_NUMBERS, patternOf } from '../duplicate/pattern.ts';
import { readBitmap } from '../eval/bitmap.ts';
import { EDITS, makeEdits } from '../eval/edits.ts';
import { writeSafetensors } from '../safetensors.ts';
import { discriminantAxes } from './discriminant.ts';
import { toRows } from './linear.ts';

/** More pictures change the axes little. */
const MAX_PICTURES = 700;
/** The edits that move a pattern to another place, where no axis of its numbers holds it. */
const NOT_ASKED = ['crop of 25 %', 'crop of 50 %', 'screenshot', 'collage of two'];
const LONG_SIDE = 320;

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  console.error('Usage: npm run train-pattern -- <folder of pictures>');
  process.exit(1);
}
const entries = await readdir(folder, { recursive: true, withFileTypes: true });
const files = entries
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .sort();
const step = Math.max(1, Math.floor(files.length / MAX_PICTURES));

const numbersOf = async (bytes: Uint8Array) =>
  patternOf((await decodeImage(bytes, { minSide: MIN_SIDE })).pixels).numbers;
const all: Float64Array[] = [];
const changes: Float64Array[] = [];
const edits = EDITS.filter(({ name }) => !NOT_ASKED.includes(name));
for (let i = 0; i < files.length; i += step) {
  const bytes = await readFile(files[i] as string);
  const bitmap = await readBitmap(bytes, LONG_SIDE);
  const original = await numbersOf(bytes);
  all.push(original);
  for (const edited of await makeEdits(bitmap, bitmap, i, edits)) {
    const numbers = await numbersOf(edited);
    all.push(numbers);
    changes.push(numbers.map((value, k) => value - (original[k] as number)));
  }
  if (all.length % 50 < 2) console.log(`${i} of ${files.length} pictures`);
}
const { mean, axes } = discriminantAxes(toRows(all, PATTERN_NUMBERS), toRows(changes, PATTERN_NUMBERS), PATTERN_AXES);
// Scaled to fit half precision; only directions count.
const largest = axes.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
const tensors = {
  mean: { shape: [PATTERN_NUMBERS], values: mean },
  axes: { shape: [PATTERN_AXES, PATTERN_NUMBERS], values: axes.map((value) => value / largest) },
};
const sha256 = createHash('sha256').update(writeSafetensors(tensors, {})).digest('hex');
await writeFile(PATTERN_FILE, writeSafetensors(tensors, { sha256, pictures: String(Math.ceil(files.length / step)) }));
console.log(`${PATTERN_FILE.pathname}: ${sha256.slice(0, 8)}`);
