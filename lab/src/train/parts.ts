/**
 * `npm run train-parts -- <folder of pictures>`: learns which pairs of pixels the points of the module parts compare,
 * and the words and signatures by which the searcher finds points. Writes packages/modules/src/parts/pairs.ts, and
 * halves.ts and signature-bits.ts in packages/searcher/src/points. With other pairs, stored points cannot be found any
 * more.
 */
import { writeFile } from 'node:fs/promises';
import { createRandom } from '@akin/domain';
import type { Pixels } from '@akin/imaging';
import { listFiles } from '@akin/modules/internal/learn/list-files';
import { evenIndexes } from '@akin/modules/internal/learn/sample-folder';
import { SOUGHT, STORED } from '@akin/modules/internal/parts/analyze';
import { PointDetector } from '@akin/modules/internal/parts/detector';
import { createKernel } from '@akin/modules/internal/parts/kernel';
import { BITS, LEVEL_FACTOR, type Point, TURNS } from '@akin/modules/internal/parts/points';
import { bitmapOf, readBitmap, toSharp } from '../eval/bitmap.ts';
import { jpeg } from '../eval/edits.ts';
import { fail, readArguments } from './arguments.ts';
import { extractFeatures } from './extract-features.ts';

const SEED = 1;
/** Pictures and points of each for the pairs, and for the words. */
const FOR_PAIRS = { pictures: 400, points: 25 };
const FOR_WORDS = { pictures: 1_500, points: 100 };
/** The edits, whose points are found as those of a query: so much smaller, as JPEG of this quality. */
const EDIT = { scale: 0.8, quality: 50 };
/** A point of an edit is that of its picture if it is so near, in pixels of its level, and alike in scale and turn. */
const SAME = { pixels: 1.5, levels: 1, turn: 3 };
/** Levels from the finest one of an edit down to that of its picture. */
const LEVELS_MORE = Math.log(SOUGHT.longSide / STORED.longSide) / Math.log(LEVEL_FACTOR);
/** Half of the pairs are learned, the others are their mirror images. */
const LEARNED = BITS / 2;
/** 32-bit words of a half. */
const HALF = LEARNED / 32;
/** Candidates come in sets of as many as are learned. */
const CANDIDATE_SETS = 32;
/** Pixels are at most this far from the point, and this far from each other. */
const REACH = 13;
const MIN_LENGTH = 3;
const DEVIATION = 5.6;
/** Words of a half of the bits, and rounds of k-majority. */
const WORDS = 256;
const ROUNDS = 10;
/** Bits of a signature, and pairs of points that are compared for each word. */
const SIGNATURE = 32;
const PAIRS_OF_WORD = 8;

const { folders, backend } = await readArguments('train-parts -- <folder of pictures>', { folders: 1 });
const files = await listFiles(folders[0] as string).catch(fail);
const random = createRandom(SEED);

const sets = Array.from({ length: CANDIDATE_SETS }, () => withMirrored(randomPairs(LEARNED)));
/** Where each bit of the pairs differs between pictures and their edits. */
const changed: Column[] = [];
const pairs = withMirrored(await choosePairs());
await writeFile(
  new URL('../../../packages/modules/src/parts/pairs.ts', import.meta.url),
  `// Made by \`npm run train-parts\`.
const text =
  '${Buffer.from(pairs.buffer).toString('base64')}';

/** The pairs of pixels that are compared: x and y of both. The second half are the mirror images of the first. */
export const PAIRS = new Int8Array(Buffer.from(text, 'base64'));
`,
);
const points: Uint32Array[] = [];
const detector = new PointDetector(createKernel, pairs);
await extractFeatures(some(FOR_WORDS.pictures), backend, async ({ pixels }) => {
  for (const { bits } of pointsOf(detector, pixels, FOR_WORDS.points)) points.push(bits);
});
const words = kMajority(points.flatMap((bits) => [bits.subarray(0, HALF), bits.subarray(HALF)]));
await writeFile(
  new URL('../../../packages/searcher/src/points/halves.ts', import.meta.url),
  `// Made by \`npm run train-parts\`.

/** 256 typical halves of the bits of a point, 8 bytes each, in base64: the word of a point names one for each half. */
export const HALVES =
  '${Buffer.from(words.buffer).toString('base64')}';
`,
);
await writeFile(
  new URL('../../../packages/searcher/src/points/signature-bits.ts', import.meta.url),
  `// Made by \`npm run train-parts\`.

/** Which of its bits are the signature of a point. */
export const SIGNATURE_BITS: readonly number[] = ${JSON.stringify(chooseSignature(points, words))};
`,
);
console.log('Format these files: npx biome check --write packages/modules/src/parts packages/searcher/src/points');

function some(count: number): string[] {
  return evenIndexes(count, files.length).map((i) => files[i] as string);
}

function pointsOf(
  detector: PointDetector,
  pixels: Pixels,
  max: number,
  { longSide, levels }: Pick<typeof STORED, 'longSide' | 'levels'> = STORED,
): Point[] {
  return detector.points(detector.detect(pixels, longSide, levels), max);
}

/** Which comparisons differ between two points: rows of bits. */
interface Differences {
  /** Of points of different pictures. */
  readonly others: Uint32Array[];
  /** Of points of pictures and the same points of their edits. */
  readonly same: Uint32Array[];
}

/** The pairs that tell points apart best, together with the mirror images of all of them. */
async function choosePairs(): Promise<number[][]> {
  const detectors = sets.map((set) => new PointDetector(createKernel, set));
  const found = sets.map((): Differences => ({ others: [], same: [] }));
  const before: Uint32Array[] = [];
  await extractFeatures(some(FOR_PAIRS.pictures), backend, async ({ pixels }) => {
    const size = { width: Math.ceil(EDIT.scale * pixels.width), height: Math.ceil(EDIT.scale * pixels.height) };
    const smaller = await bitmapOf(toSharp(pixels).resize({ ...size, fit: 'fill' }));
    const edited = await readBitmap(await jpeg(toSharp(smaller), EDIT.quality), SOUGHT.longSide);
    for (const [i, detector] of detectors.entries()) {
      const { others, same } = found[i] as Differences;
      const stored = pointsOf(detector, pixels, FOR_PAIRS.points);
      for (const [j, { bits }] of stored.entries()) {
        const other = before[i * FOR_PAIRS.points + j];
        if (other) others.push(differing(bits, other));
        before[i * FOR_PAIRS.points + j] = bits;
      }
      const sought = pointsOf(detector, edited, SOUGHT.max + SOUGHT.coarse.max, SOUGHT);
      for (const point of stored) {
        const again = sought.find((other) => isSame(point, other));
        if (again) same.push(differing(point.bits, again.bits));
      }
    }
  });
  if ((found[0]?.same ?? []).length < LEARNED) fail('The folder has too few pictures with points.');
  const candidates = found.flatMap((differences, set) =>
    Array.from({ length: LEARNED }, (_, pair) => ({
      numbers: Array.from(sets[set]?.subarray(4 * pair, 4 * pair + 4) ?? []),
      own: columnsOf(differences, pair),
      mirrored: columnsOf(differences, pair + LEARNED),
    })),
  );
  const chosen = mostTelling(
    candidates.map(({ own }) => own),
    LEARNED,
    candidates.map(({ mirrored }) => mirrored),
  ).map((i) => candidates[i] as (typeof candidates)[number]);
  changed.push(...chosen.map(({ own }) => own.same), ...chosen.map(({ mirrored }) => mirrored.same));
  return chosen.map(({ numbers }) => numbers);
}

/** Whether a point of an edit is that of its picture. */
function isSame(point: Point, other: Point): boolean {
  const levels = other.level - LEVELS_MORE - point.level;
  const turned = Math.abs(point.turn - other.turn);
  const near = (SAME.pixels * LEVEL_FACTOR ** point.level) / STORED.longSide;
  return (
    Math.abs(levels) < SAME.levels &&
    Math.min(turned, TURNS - turned) <= SAME.turn &&
    Math.hypot(point.x - other.x, point.y - other.y) < near
  );
}

function randomPairs(count: number): number[][] {
  const normal = () => DEVIATION * Math.SQRT2 * (Array.from({ length: 6 }, random).reduce((a, b) => a + b) - 3);
  const pixel = (): [number, number] => {
    for (;;) {
      const [x, y] = [Math.round(normal()), Math.round(normal())];
      if (Math.hypot(x, y) <= REACH) return [x, y];
    }
  };
  const found: number[][] = [];
  while (found.length < count) {
    const [a, b] = [pixel(), pixel()];
    if (Math.hypot(a[0] - b[0], a[1] - b[1]) >= MIN_LENGTH) found.push([...a, ...b]);
  }
  return found;
}

/** In a mirrored picture the orientation of a point is mirrored, too: its pairs are turned upside down. */
function withMirrored(pairs: readonly number[][]): Int8Array {
  const mirrored = pairs.map(([ax = 0, ay = 0, bx = 0, by = 0]) => [ax, -ay, bx, -by]);
  return Int8Array.from([...pairs, ...mirrored].flat());
}

/** Where a bit differs, of many pairs of points. */
interface Columns {
  readonly others: Column;
  readonly same: Column;
}

interface Column {
  readonly bits: Uint32Array;
  readonly count: number;
}

function columnsOf({ others, same }: Differences, bit: number): Columns {
  return { others: packed(others, bit), same: packed(same, bit) };
}

function mean({ bits, count }: Column): number {
  return ones(bits) / count;
}

function covariance(a: Column, b: Column): number {
  return both(a.bits, b.bits) / a.count - mean(a) * mean(b);
}

/**
 * The bits by whose number of differences the same points and others are farthest apart, in standard deviations of both
 * (Fisher's linear discriminant, with weights of 0 and 1): one after the other, whichever adds most to those before.
 *
 * @param mirrored bits that are taken together with them
 */
function mostTelling(columns: readonly Columns[], wanted: number, mirrored: readonly Columns[] = []): number[] {
  const gains = columns.map(({ others, same }) => mean(others) - mean(same));
  const shared = (a: number, b: number) => {
    const [one, other, image] = [columns[a] as Columns, columns[b] as Columns, mirrored[b]];
    const own = covariance(one.others, other.others) + covariance(one.same, other.same);
    return image ? own + covariance(one.others, image.others) + covariance(one.same, image.same) : own;
  };
  const variances = columns.map((_, i) => shared(i, i));
  const sums = columns.map(() => 0);
  const chosen: number[] = [];
  let [gain, variance] = [0, 0];
  while (chosen.length < wanted) {
    let [best, most] = [-1, Number.NEGATIVE_INFINITY];
    for (let i = 0; i < columns.length; i++) {
      if (chosen.includes(i)) continue;
      const separation = (gain + (gains[i] as number)) / Math.sqrt(variance + grown(i));
      if (separation > most) [best, most] = [i, separation];
    }
    gain += gains[best] as number;
    variance += grown(best);
    chosen.push(best);
    for (let i = 0; i < columns.length; i++) sums[i] = (sums[i] as number) + shared(i, best);
  }
  const separation = (gain / Math.sqrt(variance)).toFixed(2);
  console.log(`${wanted} of ${columns.length} bits: ${separation} standard deviations`);
  return chosen.sort((a, b) => a - b);

  function grown(i: number): number {
    return 2 * (sums[i] as number) + (variances[i] as number);
  }
}

/** The bits that tell points of the same word apart best. */
function chooseSignature(points: readonly Uint32Array[], words: Uint32Array): number[] {
  const centres = Array.from({ length: WORDS }, (_, i) => words.subarray(HALF * i, HALF * (i + 1)));
  const byWord = new Map<number, Uint32Array[]>();
  for (const bits of points) {
    const word = WORDS * nearestOf(centres, bits.subarray(0, HALF)) + nearestOf(centres, bits.subarray(HALF));
    byWord.set(word, [...(byWord.get(word) ?? []), bits].slice(0, PAIRS_OF_WORD + 1));
  }
  const others = [...byWord.values()].flatMap((some) =>
    some.slice(1).map((bits, i) => differing(bits, some[i] as Uint32Array)),
  );
  return mostTelling(
    changed.map((same, bit) => ({ others: packed(others, bit), same })),
    SIGNATURE,
  );
}

function differing(a: Uint32Array, b: Uint32Array): Uint32Array {
  return a.map((word, i) => word ^ (b[i] as number));
}

/** One bit of many rows. */
function packed(rows: readonly Uint32Array[], bit: number): Column {
  const column = new Uint32Array(Math.ceil(rows.length / 32));
  for (const [i, row] of rows.entries()) {
    if (((row[bit >>> 5] as number) >>> (bit & 31)) & 1)
      column[i >>> 5] = (column[i >>> 5] as number) | (1 << (i & 31));
  }
  return { bits: column, count: rows.length };
}

/** k-means for bits: a centre has the bit that most of its members have. */
function kMajority(rows: readonly Uint32Array[]): Uint32Array {
  const centres = Array.from({ length: WORDS }, () =>
    Uint32Array.from(rows[Math.floor(random() * rows.length)] as Uint32Array),
  );
  for (let round = 0; round < ROUNDS; round++) {
    const members = centres.map(() => 0);
    const set = centres.map(() => new Uint32Array(LEARNED));
    for (const row of rows) {
      const nearest = nearestOf(centres, row);
      members[nearest] = (members[nearest] as number) + 1;
      const counts = set[nearest] as Uint32Array;
      for (let bit = 0; bit < LEARNED; bit++) {
        counts[bit] = (counts[bit] as number) + (((row[bit >>> 5] as number) >>> (bit & 31)) & 1);
      }
    }
    for (const [i, centre] of centres.entries()) {
      const most = (members[i] as number) / 2;
      if (most === 0) centre.set(rows[Math.floor(random() * rows.length)] as Uint32Array);
      else centre.set(packedBits(set[i] as Uint32Array, most));
    }
  }
  return Uint32Array.from(centres.flatMap((centre) => [...centre]));
}

function packedBits(counts: Uint32Array, most: number): Uint32Array {
  const bits = new Uint32Array(counts.length / 32);
  for (const [bit, count] of counts.entries()) {
    if (count > most) bits[bit >>> 5] = (bits[bit >>> 5] as number) | (1 << (bit & 31));
  }
  return bits;
}

function nearestOf(centres: readonly Uint32Array[], row: Uint32Array): number {
  let [nearest, least] = [0, Number.POSITIVE_INFINITY];
  for (const [i, centre] of centres.entries()) {
    const distance = differences(centre, row);
    if (distance < least) [nearest, least] = [i, distance];
  }
  return nearest;
}

function differences(a: Uint32Array, b: Uint32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += onesOf((a[i] as number) ^ (b[i] as number));
  return sum;
}

/** How many bits are 1 in both. */
function both(a: Uint32Array, b: Uint32Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += onesOf((a[i] as number) & (b[i] as number));
  return sum;
}

function ones(bits: Uint32Array): number {
  return bits.reduce((sum, word) => sum + onesOf(word), 0);
}

function onesOf(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
