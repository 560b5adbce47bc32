/**
 * `npm run train-parts -- <folder of pictures>`: learns which pairs of pixels the points of the module parts compare,
 * and the words and signatures by which the searcher finds points. Writes packages/modules/src/parts/pairs.ts, and
 * halves.ts and signature-bits.ts in packages/searcher/src/points. With other pairs, stored points cannot be found any
 * more.
 */
import { writeFile } from 'node:fs/promises';
import { createRandom } from '@akin/domain';
import { listFiles } from '@akin/modules/internal/learn/list-files';
import { evenIndexes } from '@akin/modules/internal/learn/sample-folder';
import { PointDetector } from '@akin/modules/internal/parts/detector';
import { createKernel } from '@akin/modules/internal/parts/kernel';
import { BITS } from '@akin/modules/internal/parts/points';
import { fail, readArguments } from './arguments.ts';
import { extractFeatures } from './extract-features.ts';

const SEED = 1;
/** Pictures and points of each for the pairs, and for the words. */
const FOR_PAIRS = { pictures: 400, points: 25 };
const FOR_WORDS = { pictures: 1_500, points: 100 };
const LONG_SIDE = 400;
const LEVELS = 8;
/** Half of the pairs are learned, the others are their mirror images. */
const LEARNED = BITS / 2;
/** Candidates come in sets of as many as are learned. */
const CANDIDATE_SETS = 16;
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
/** The share of the bits of a point that differ in an edit of its picture, as measured. */
const CHANGED = 0.1;

const { folders, backend } = await readArguments('train-parts -- <folder of pictures>', { folders: 1 });
const files = await listFiles(folders[0] as string).catch(fail);
const random = createRandom(SEED);

const sets = Array.from({ length: CANDIDATE_SETS }, () => withMirrored(randomPairs(LEARNED)));
const candidates = await bitsOf(sets, FOR_PAIRS);
const pairs = withMirrored(choosePairs(candidates));
await writeFile(
  new URL('../../../packages/modules/src/parts/pairs.ts', import.meta.url),
  `// Made by \`npm run train-parts\`.
const text =
  '${Buffer.from(pairs.buffer).toString('base64')}';

/** The pairs of pixels that are compared: x and y of both. The second half are the mirror images of the first. */
export const PAIRS = new Int8Array(Buffer.from(text, 'base64'));
`,
);
const [points = []] = await bitsOf([pairs], FOR_WORDS);
const words = kMajority(points.flatMap((bits) => [bits.subarray(0, 4), bits.subarray(4)]));
await writeFile(
  new URL('../../../packages/searcher/src/points/halves.ts', import.meta.url),
  `// Made by \`npm run train-parts\`.

/** 256 typical halves of the bits of a point, 16 bytes each, in base64: the word of a point names one for each half. */
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

/** The bits of the same points by each set of pairs: a row for each point. */
async function bitsOf(sets: readonly Int8Array[], { pictures, points }: typeof FOR_PAIRS): Promise<Uint32Array[][]> {
  const detectors = sets.map((set) => new PointDetector(createKernel, set));
  const some = evenIndexes(pictures, files.length).map((i) => files[i] as string);
  const found = sets.map((): Uint32Array[] => []);
  await extractFeatures(some, backend, async ({ pixels }) => {
    for (const [i, detector] of detectors.entries()) {
      const detected = detector.detect(pixels, LONG_SIDE, LEVELS);
      for (const { bits } of detector.points(detected, points)) found[i]?.push(bits);
    }
  });
  if ((found[0] ?? []).length < LEARNED) fail('The folder has too few pictures with points.');
  return found;
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

/**
 * The pairs whose comparisons vary most and depend least on each other (Rublee et al. 2011), and neither on the mirror
 * images of the others.
 */
function choosePairs(found: readonly (readonly Uint32Array[])[]): number[][] {
  const count = found[0]?.length ?? 0;
  const columns = found.flatMap((rows, set) =>
    Array.from({ length: LEARNED }, (_, pair) => {
      const column = (bit: number) => packed(rows, bit);
      const own = column(pair);
      const numbers = Array.from(sets[set]?.subarray(4 * pair, 4 * pair + 4) ?? []);
      return { numbers, own, mirrored: column(pair + LEARNED), bias: Math.abs(ones(own) / count - 0.5) };
    }),
  );
  columns.sort((a, b) => a.bias - b.bias);
  const dependence = (a: Uint32Array, b: Uint32Array) => Math.abs(1 - (2 * differences(a, b)) / count);
  for (let limit = 0.2; ; limit += 0.05) {
    const chosen: typeof columns = [];
    for (const one of columns) {
      if (dependence(one.own, one.mirrored) > limit) continue;
      const depends = chosen.some(
        ({ own, mirrored }) => dependence(own, one.own) > limit || dependence(mirrored, one.own) > limit,
      );
      if (!depends) chosen.push(one);
      if (chosen.length === LEARNED) {
        console.log(`Comparisons depend on each other by at most ${limit.toFixed(2)}.`);
        return chosen.map(({ numbers }) => numbers);
      }
    }
  }
}

/** The bits that differ most between points of the same word, and depend least on each other. */
function chooseSignature(points: readonly Uint32Array[], words: Uint32Array): number[] {
  const centres = Array.from({ length: WORDS }, (_, i) => words.subarray(4 * i, 4 * i + 4));
  const byWord = new Map<number, Uint32Array[]>();
  for (const bits of points) {
    const word = WORDS * nearestOf(centres, bits.subarray(0, 4)) + nearestOf(centres, bits.subarray(4));
    byWord.set(word, [...(byWord.get(word) ?? []), bits].slice(0, PAIRS_OF_WORD + 1));
  }
  const pairs = [...byWord.values()].flatMap((some) =>
    some.slice(1).map((bits, i) => bits.map((word, at) => word ^ (some[i]?.[at] ?? 0))),
  );
  const columns = Array.from({ length: BITS }, (_, bit) => packed(pairs, bit));
  const means = columns.map((column) => ones(column) / pairs.length);
  const covariance = (a: number, b: number) => {
    const both = columns[a]?.map((word, i) => word & (columns[b]?.[i] ?? 0)) ?? new Uint32Array();
    const own = a === b ? CHANGED * (1 - CHANGED) : 0;
    return ones(both) / pairs.length - (means[a] as number) * (means[b] as number) + own;
  };
  const chosen: number[] = [];
  // Between points of a word and the same points: the difference of the means, and the variance of both.
  let [difference, variance] = [0, 0];
  const shared = columns.map(() => 0);
  while (chosen.length < SIGNATURE) {
    let [best, most] = [-1, 0];
    for (let bit = 0; bit < BITS; bit++) {
      if (chosen.includes(bit)) continue;
      const grown = variance + 2 * (shared[bit] as number) + covariance(bit, bit);
      const separation = (difference + (means[bit] as number) - CHANGED) / Math.sqrt(grown);
      if (separation > most) [best, most] = [bit, separation];
    }
    difference += (means[best] as number) - CHANGED;
    variance += 2 * (shared[best] as number) + covariance(best, best);
    chosen.push(best);
    for (let bit = 0; bit < BITS; bit++) shared[bit] = (shared[bit] as number) + covariance(bit, best);
  }
  return chosen.sort((a, b) => a - b);
}

/** One bit of many rows. */
function packed(rows: readonly Uint32Array[], bit: number): Uint32Array {
  const column = new Uint32Array(Math.ceil(rows.length / 32));
  for (const [i, row] of rows.entries()) {
    if (((row[bit >>> 5] as number) >>> (bit & 31)) & 1)
      column[i >>> 5] = (column[i >>> 5] as number) | (1 << (i & 31));
  }
  return column;
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

function ones(bits: Uint32Array): number {
  return bits.reduce((sum, word) => sum + onesOf(word), 0);
}

function onesOf(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
