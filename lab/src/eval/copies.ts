import { COPY_SCORE } from '@akin/modules/internal/duplicate/copy-score';
import { distance } from '@akin/modules/internal/vectors/unit';
import { scoreOf } from '@akin/modules/vectors';
import { averagePrecisionOf, similarity } from './ranking.ts';

type Vectors = Readonly<Record<string, Float32Array>>;

/** A picture with its edits; `withOther` names the edits that contain a second picture, and that picture. */
export interface Edited {
  /** Its index in `pictures`. */
  readonly picture: number;
  readonly other: number;
  /** Seed of the random edits. */
  readonly seed: number;
  readonly edits: readonly { readonly name: string; readonly vectors: Vectors }[];
}

interface Pair {
  readonly a: number;
  readonly b: number;
  readonly score: number;
}

export interface CopyFigures {
  readonly copies: number;
  readonly pairs: number;
  /** Pairs of originals that are near by every simple measure: bursts and copies, counted separately. */
  readonly sameScene: readonly Pair[];
  /** By the name of the descriptor: the share of copies found at a given rate of false pairs. */
  readonly atFalsePairs: Readonly<
    Record<string, { readonly in100000: number; readonly inMillion: number; readonly averagePrecision: number }>
  >;
  /** For `duplicate`, by score. */
  readonly curve: readonly { readonly score: number; readonly found: number; readonly falsePerMillion: number }[];
  /** By edit: the share found by `duplicate` at 0.7, and by pHash at one false pair in a million. */
  readonly byEdit: readonly { readonly edit: string; readonly found: number; readonly pHash: number }[];
  /** Non-matching pairs by descending score. */
  readonly nearestNonMatching: readonly Pair[];
}

/** Two pictures show the same scene if their thumbnails agree this much, in any of the 8 orientations of one. */
const SAME_SCENE = 0.93;
const KEPT_PAIRS = 40;

/** The score of two pictures as duplicates. */
export function scoreOfCopy(a: Vectors | undefined, b: Vectors | undefined): number {
  return scoreOf('duplicate', distance(a?.duplicate as Float32Array, b?.duplicate as Float32Array));
}

/**
 * Measures how well copies are separated from non-matching pairs. Non-matching pairs are all pairs of different
 * pictures, and each edit with every other picture except those near to the edit's original.
 */
export function measureCopies(pictures: readonly Vectors[], edited: readonly Edited[]): CopyFigures {
  const scenes = findScenes(pictures);
  const sameScene: Pair[] = [];
  const nearestNonMatching: Pair[] = [];
  const names = Object.keys(pictures[0] ?? {});
  const same = new Map(names.map((name) => [name, [] as number[]]));
  // Some millions of values for each descriptor; arrays of numbers would take twice the memory.
  const most =
    (pictures.length * (pictures.length - 1)) / 2 +
    pictures.length * edited.reduce((count, { edits }) => count + edits.length, 0);
  const different = new Map(names.map((name) => [name, new Float64Array(most)]));
  let pairs = 0;
  for (let a = 0; a < pictures.length; a++) {
    for (let b = 0; b < a; b++) {
      const pair = { a, b, score: scoreOfCopy(pictures[a], pictures[b]) };
      if (scenes.has(`${a} ${b}`)) {
        sameScene.push(pair);
        continue;
      }
      keep(nearestNonMatching, pair);
      for (const [name, list] of different) list[pairs] = nearness(pictures[a], pictures[b], name);
      pairs++;
    }
  }
  for (const { picture, other, edits } of edited) {
    for (const { name: edit, vectors } of edits) {
      for (const name of names) same.get(name)?.push(nearness(pictures[picture], vectors, name));
      if (edit.startsWith('collage')) continue;
      for (let b = 0; b < pictures.length; b++) {
        if (b === picture || b === other || scenes.has(key(picture, b))) continue;
        for (const [name, list] of different) list[pairs] = nearness(vectors, pictures[b], name);
        pairs++;
      }
    }
  }
  for (const [name, list] of different) different.set(name, list.subarray(0, pairs).sort().reverse());
  const nonMatchingBy = (name: string) => different.get(name) as Float64Array;
  const atFalsePairs: Record<string, { in100000: number; inMillion: number; averagePrecision: number }> = {};
  for (const name of names) {
    const copies = falling(same.get(name));
    const nonMatching = nonMatchingBy(name);
    atFalsePairs[name] = {
      in100000: shareAbove(copies, quantile(nonMatching, 1e-5)),
      inMillion: shareAbove(copies, quantile(nonMatching, 1e-6)),
      averagePrecision: nonMatching.length === 0 ? Number.NaN : averagePrecisionOf(copies, nonMatching),
    };
  }
  const own = falling(same.get('duplicate'));
  const nonMatching = nonMatchingBy('duplicate');
  const pHashBound = quantile(nonMatchingBy('pHash'), 1e-6);
  return {
    copies: own.length,
    pairs: nonMatching.length,
    sameScene: sameScene.toSorted((x, y) => y.score - x.score),
    atFalsePairs,
    curve: Array.from({ length: 19 }, (_, i) => {
      const score = (i + 1) / 20;
      const bound = nearnessAt(score);
      return {
        score,
        found: shareAbove(own, bound),
        falsePerMillion: 1e6 * shareAbove(nonMatching, bound),
      };
    }),
    byEdit: byEdit(pictures, edited, pHashBound),
    nearestNonMatching,
  };
}

const key = (a: number, b: number) => (a > b ? `${a} ${b}` : `${b} ${a}`);

function nearness(a: Vectors | undefined, b: Vectors | undefined, name: string): number {
  return similarity(a?.[name] as Float32Array, b?.[name] as Float32Array);
}

/** The inner product of two descriptors with this score. */
function nearnessAt(score: number): number {
  let low = 0;
  let high = 2;
  for (let i = 0; i < 40; i++) {
    const middle = (low + high) / 2;
    if (scoreOf('duplicate', middle) >= score) low = middle;
    else high = middle;
  }
  return 1 - (low * low) / 2;
}

function shareAbove(falling: Float64Array, bound: number): number {
  if (Number.isNaN(bound)) return Number.NaN;
  const found = falling.findIndex((value) => value <= bound);
  return (found < 0 ? falling.length : found) / falling.length;
}

const falling = (values: readonly number[] = []) => Float64Array.from(values).sort().reverse();

/** The value that a share of all values exceeds; NaN for an empty list. */
function quantile(falling: Float64Array, share: number): number {
  return falling[Math.floor(share * falling.length)] ?? Number.NaN;
}

function keep(best: Pair[], pair: Pair): void {
  if (best.length === KEPT_PAIRS && pair.score <= (best[KEPT_PAIRS - 1] as Pair).score) return;
  const at = best.findIndex(({ score }) => score < pair.score);
  best.splice(at < 0 ? best.length : at, 0, pair);
  if (best.length > KEPT_PAIRS) best.pop();
}

function byEdit(pictures: readonly Vectors[], edited: readonly Edited[], pHashBound: number): CopyFigures['byEdit'] {
  const counts = new Map<string, { found: number; pHash: number; all: number }>();
  for (const { picture, edits } of edited) {
    for (const { name, vectors } of edits) {
      const count = counts.get(name) ?? { found: 0, pHash: 0, all: 0 };
      count.all++;
      if (scoreOfCopy(pictures[picture], vectors) >= COPY_SCORE) count.found++;
      if (nearness(pictures[picture], vectors, 'pHash') > pHashBound) count.pHash++;
      counts.set(name, count);
    }
  }
  return Array.from(counts, ([edit, { found, pHash, all }]) => ({ edit, found: found / all, pHash: pHash / all }));
}

/** Pairs of pictures whose thumbnails agree in any orientation, as keys of `key`. */
function findScenes(pictures: readonly Vectors[]): Set<string> {
  const scenes = new Set<string>();
  const turned = pictures.map((vectors) =>
    dihedral(vectors['32 px thumbnail'] as Float32Array).map((fine) => ({ fine, coarse: coarse(fine) })),
  );
  // Averaging never increases the distance of two thumbnails, so pairs whose coarse thumbnails are too far apart can be
  // skipped.
  const farthest = Math.sqrt(2 - 2 * SAME_SCENE);
  for (let a = 0; a < pictures.length; a++) {
    for (let b = 0; b < a; b++) {
      const fixed = turned[b]?.[0] as (typeof turned)[number][number];
      const agree = (orientation: typeof fixed) =>
        distance(orientation.coarse, fixed.coarse) <= farthest && similarity(orientation.fine, fixed.fine) > SAME_SCENE;
      if (turned[a]?.some(agree)) scenes.add(key(a, b));
    }
  }
  return scenes;
}

/** A thumbnail of a quarter of the side, scaled so that distances are at most those of the full thumbnails. */
function coarse(thumbnail: Float32Array): Float32Array {
  const side = Math.sqrt(thumbnail.length / 3);
  const small = side / 4;
  const result = new Float32Array(3 * small * small);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const to = 3 * (small * (y >> 2) + (x >> 2));
      for (let c = 0; c < 3; c++) result[to + c] = (result[to + c] ?? 0) + (thumbnail[3 * (side * y + x) + c] ?? 0) / 4;
    }
  }
  return result;
}

/** The 8 orientations of a square thumbnail of 3 bytes a pixel. */
function dihedral(thumbnail: Float32Array): Float32Array[] {
  const side = Math.sqrt(thumbnail.length / 3);
  return Array.from({ length: 8 }, (_, orientation) => {
    const result = new Float32Array(thumbnail.length);
    for (let y = 0; y < side; y++) {
      for (let x = 0; x < side; x++) {
        const flippedX = orientation & 1 ? side - 1 - x : x;
        const flippedY = orientation & 2 ? side - 1 - y : y;
        const from = orientation & 4 ? side * flippedX + flippedY : side * flippedY + flippedX;
        for (let c = 0; c < 3; c++) result[3 * (side * y + x) + c] = thumbnail[3 * from + c] as number;
      }
    }
    return result;
  });
}
