import { CENTRES } from './centres.ts';
import type { Colors } from './colors.ts';
import { hexOf, rgbOf } from './oklab.ts';

/** Dominant colours by descending share. */
export interface Palette {
  /** `#RRGGBB`, 1 to 5. */
  readonly hex: string[];
  /** Shares in steps of 0.0001; the formatted numbers sum to 1. */
  readonly freq: number[];
}

const MAX_COLORS = 5;
/** A group below this share of the subject is not a separate colour. */
const MIN_SHARE = 0.015;
/** Groups nearer than this (see `difference`) are merged, if the merged group is not wider than `SPREAD`. */
const SAME_COLOR = 0.12;
/**
 * Root mean square of `difference` from the group's mean. Without this limit, shades would merge one by one into a
 * single mean.
 */
const SPREAD = 0.06;
/**
 * Factor of hue and chroma when more than five groups are left: a viewer misses a small yellow object more than a
 * shade.
 */
const HUE = 3;
/** A group below this share is dropped if its colour lies between two larger ones: blurred edges. */
const BLEND_SHARE = 0.05;
const BLEND_DISTANCE = 0.06;
const ROUNDS = 6;

interface Group {
  x: number;
  y: number;
  z: number;
  weight: number;
  /** Weighted sum of squared differences between the group's colours and its mean. */
  scatter: number;
}

/**
 * Computes the palette of weighted colours. K-means starts at the fixed centres with the largest shares (`shares` of
 * descriptor.ts). Groups are merged until at most five are left that all look different. Then each colour is assigned
 * to the nearest group once more; further rounds would split the picture into five groups again, and small vivid ones
 * would turn gray. The result is deterministic.
 */
export function findPalette(colors: Colors, shares: Float64Array): Palette {
  let groups = mergeSimilar(kMeans(colors, startGroups(shares)));
  groups = mergeSimilar(regroup(colors, groups).map((group) => moveToDensest(colors, group)));
  groups.sort((a, b) => b.weight - a.weight || a.x - b.x || a.y - b.y || a.z - b.z);
  const total = groups.reduce((sum, group) => sum + group.weight, 0);
  return toPalette(
    groups.filter(
      (group, i) =>
        group.weight >= MIN_SHARE * total &&
        (group.weight >= BLEND_SHARE * total || !isBlend(group, groups.slice(0, i))),
    ),
  );
}

/** The centres with at least 1 % of the picture, at most 16. */
function startGroups(shares: Float64Array): Group[] {
  let total = 0;
  for (const share of shares) total += share;
  return Array.from(shares, (share, k) => ({ share, k }))
    .filter(({ share }) => share >= 0.01 * total)
    .sort((a, b) => b.share - a.share || a.k - b.k)
    .slice(0, 16)
    .map(({ k }) => ({
      x: CENTRES[3 * k] as number,
      y: CENTRES[3 * k + 1] as number,
      z: CENTRES[3 * k + 2] as number,
      weight: 0,
      scatter: 0,
    }));
}

function kMeans(colors: Colors, start: Group[]): Group[] {
  let groups = start;
  for (let round = 0; round < ROUNDS; round++) groups = regroup(colors, groups);
  return groups;
}

/**
 * Assigns each colour to its nearest group and returns the groups' means; empty groups are removed. The scatter is
 * measured around the previous mean: nearly the same after some rounds, slightly larger after one.
 */
function regroup(colors: Colors, groups: readonly Group[]): Group[] {
  const sums = groups.map(() => ({ x: 0, y: 0, z: 0, weight: 0, scatter: 0 }));
  for (let i = 0; i < colors.count; i++) {
    const x = colors.points[3 * i] as number;
    const y = colors.points[3 * i + 1] as number;
    const z = colors.points[3 * i + 2] as number;
    let nearest = 0;
    let best = Number.POSITIVE_INFINITY;
    for (let k = 0; k < groups.length; k++) {
      const group = groups[k] as Group;
      const dx = x - group.x;
      const dy = y - group.y;
      const dz = z - group.z;
      const d2 = dx * dx + dy * dy + dz * dz;
      if (d2 < best) {
        best = d2;
        nearest = k;
      }
    }
    const weight = colors.weights[i] as number;
    const sum = sums[nearest] as Group;
    sum.x += weight * x;
    sum.y += weight * y;
    sum.z += weight * z;
    sum.weight += weight;
    const group = groups[nearest] as Group;
    sum.scatter += weight * difference2(x, y, z, group.x, group.y, group.z);
  }
  return sums
    .filter((sum) => sum.weight > 0)
    .map(({ x, y, z, weight, scatter }) => ({ x: x / weight, y: y / weight, z: z / weight, weight, scatter }));
}

/** Merges groups of the same colour and, while more than five are left, the pairs that a viewer misses least. */
function mergeSimilar(groups: readonly Group[]): Group[] {
  const left = [...groups];
  for (;;) {
    const pair = pairToMerge(left);
    if (!pair) return left;
    left[pair.first] = join(left[pair.first] as Group, left[pair.second] as Group);
    left.splice(pair.second, 1);
  }
}

interface Pair {
  readonly first: number;
  readonly second: number;
}

/**
 * The nearest pair that counts as one colour. If there is none and more than five groups are left: a near pair with a
 * small group.
 */
function pairToMerge(groups: readonly Group[]): Pair | null {
  let same: Pair | null = null;
  let nearest = Number.POSITIVE_INFINITY;
  let spare: Pair | null = null;
  let cheapest = Number.POSITIVE_INFINITY;
  for (let first = 0; first < groups.length; first++) {
    for (let second = first + 1; second < groups.length; second++) {
      const a = groups[first] as Group;
      const b = groups[second] as Group;
      const distance = difference(a, b);
      if (distance < nearest && distance <= SAME_COLOR && spreadOf(join(a, b)) <= SPREAD) {
        nearest = distance;
        same = { first, second };
      }
      const hue = Math.sqrt((a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z));
      const cost = (distance + HUE * hue) * Math.sqrt(Math.min(a.weight, b.weight));
      if (cost < cheapest) {
        cheapest = cost;
        spare = { first, second };
      }
    }
  }
  return same ?? (groups.length > MAX_COLORS ? spare : null);
}

function spreadOf({ scatter, weight }: Group): number {
  return Math.sqrt(scatter / weight);
}

/** A colour is vivid from this chroma on (units of oklab.ts). */
const VIVID = 0.25;

/**
 * Distance of two groups in units of oklab.ts. Between vivid colours lightness counts half, because shading does not
 * change the colour of a red shirt; between grays it counts fully: black, gray and white are three colours.
 */
function difference(a: Group, b: Group): number {
  return Math.sqrt(difference2(a.x, a.y, a.z, b.x, b.y, b.z));
}

/** Squared distance of two points. */
function difference2(ax: number, ay: number, az: number, bx: number, by: number, bz: number): number {
  const chroma = Math.sqrt(Math.min(ay * ay + az * az, by * by + bz * bz));
  const dx = (1 - 0.5 * Math.min(1, chroma / VIVID)) * (ax - bx);
  const dy = ay - by;
  const dz = az - bz;
  return dx * dx + dy * dy + dz * dz;
}

/** Merges two groups: the scatter is the sum of theirs plus that of their means. */
function join(a: Group, b: Group): Group {
  const weight = a.weight + b.weight;
  const apart2 = difference2(a.x, a.y, a.z, b.x, b.y, b.z);
  return {
    x: (a.weight * a.x + b.weight * b.x) / weight,
    y: (a.weight * a.y + b.weight * b.y) / weight,
    z: (a.weight * a.z + b.weight * b.z) / weight,
    weight,
    scatter: a.scatter + b.scatter + (a.weight * b.weight * apart2) / weight,
  };
}

/** Radius around a group's mean in which its displayed colour is searched. */
const CORE = 0.12;

/**
 * Moves a group's colour from the mean of all its colours towards their densest part (one step of mean shift), because
 * outlines and shadows make the mean duller than what a viewer sees. More steps would move small groups to their large
 * neighbours.
 */
function moveToDensest(colors: Colors, group: Group): Group {
  const { x, y, z } = group;
  const sum = { x: 0, y: 0, z: 0, weight: 0 };
  for (let i = 0; i < colors.count; i++) {
    const px = colors.points[3 * i] as number;
    const py = colors.points[3 * i + 1] as number;
    const pz = colors.points[3 * i + 2] as number;
    const d2 = (px - x) * (px - x) + (py - y) * (py - y) + (pz - z) * (pz - z);
    if (d2 >= CORE * CORE) continue;
    const rest = 1 - d2 / (CORE * CORE);
    const weight = (colors.weights[i] as number) * rest * rest;
    sum.x += weight * px;
    sum.y += weight * py;
    sum.z += weight * pz;
    sum.weight += weight;
  }
  if (sum.weight === 0) return group;
  return { ...group, x: sum.x / sum.weight, y: sum.y / sum.weight, z: sum.z / sum.weight };
}

/** True if a colour lies between two of the others. */
function isBlend(group: Group, others: readonly Group[]): boolean {
  return others.some((a, i) =>
    others.slice(i + 1).some((b) => {
      const bx = b.x - a.x;
      const by = b.y - a.y;
      const bz = b.z - a.z;
      const along =
        ((group.x - a.x) * bx + (group.y - a.y) * by + (group.z - a.z) * bz) / (bx * bx + by * by + bz * bz);
      if (along <= 0 || along >= 1) return false;
      const dx = a.x + along * bx - group.x;
      const dy = a.y + along * by - group.y;
      const dz = a.z + along * bz - group.z;
      return dx * dx + dy * dy + dz * dz < BLEND_DISTANCE * BLEND_DISTANCE;
    }),
  );
}

/** Rounds colours to sRGB, merges those with equal text, and rounds shares by largest remainders to a sum of 10,000. */
function toPalette(groups: readonly Group[]): Palette {
  const byHex = new Map<string, number>();
  for (const { x, y, z, weight } of groups) {
    const hex = hexOf(...rgbOf(x, y, z));
    byHex.set(hex, (byHex.get(hex) ?? 0) + weight);
  }
  // Merged colours may now have a larger share than others.
  const falling = [...byHex].sort(([, a], [, b]) => b - a);
  const hex = falling.map(([printed]) => printed);
  const weights = falling.map(([, weight]) => weight);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const exact = weights.map((weight) => (10000 * weight) / total);
  const units = exact.map(Math.floor);
  const byRemainder = exact
    .map((value, i) => ({ i, remainder: value - Math.floor(value) }))
    .sort((a, b) => b.remainder - a.remainder || a.i - b.i);
  let missing = 10000 - units.reduce((sum, unit) => sum + unit, 0);
  for (const { i } of byRemainder) {
    if (missing === 0) break;
    units[i] = (units[i] as number) + 1;
    missing--;
  }
  return { hex, freq: units.map((unit) => unit / 10000) };
}
