import { CENTRES } from './centres.ts';
import type { Colors } from './colors.ts';
import { hexOf, rgbOf } from './oklab.ts';

/** Dominant colours by falling share. */
export interface Palette {
  /** `#RRGGBB`, 1 to 5. */
  readonly hex: string[];
  /** Shares in steps of 0.0001; the printed numbers sum to 1. */
  readonly freq: number[];
}

const MAX_COLORS = 5;
/** A group below this share of the subject is not a colour of its own. */
const MIN_SHARE = 0.015;
/** Groups nearer than this (units of oklab.ts, lightness halved: shading does not make a colour) become one. */
const SAME_COLOR = 0.13;
const ROUNDS = 6;

interface Group {
  x: number;
  y: number;
  z: number;
  weight: number;
}

/**
 * The palette of colours with weights: k-means started at the fixed centres that hold most of the picture (`shares`
 * of descriptor.ts), then groups that look alike are merged, and the cheapest pairs until five are left. Nothing is
 * drawn by chance.
 */
export function findPalette(colors: Colors, shares: Float64Array): Palette {
  let groups = startGroups(shares);
  for (let round = 0; round < ROUNDS; round++) groups = regroup(colors, groups);
  while (true) {
    const pair = cheapestPair(groups);
    if (!pair || (pair.distance > SAME_COLOR && groups.length <= MAX_COLORS)) break;
    merge(groups, pair.first, pair.second);
  }
  const total = groups.reduce((sum, group) => sum + group.weight, 0);
  const kept = groups.filter((group) => group.weight >= MIN_SHARE * total);
  kept.sort((a, b) => b.weight - a.weight || a.x - b.x || a.y - b.y || a.z - b.z);
  return print(kept);
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
    }));
}

/** Gives each colour to its nearest group and returns the groups' means; empty groups fall away. */
function regroup(colors: Colors, groups: readonly Group[]): Group[] {
  const sums = groups.map(() => ({ x: 0, y: 0, z: 0, weight: 0 }));
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
  }
  return sums
    .filter((sum) => sum.weight > 0)
    .map(({ x, y, z, weight }) => ({ x: x / weight, y: y / weight, z: z / weight, weight }));
}

/** The pair that a viewer misses least: near, and one of the two small. */
function cheapestPair(groups: readonly Group[]): { first: number; second: number; distance: number } | null {
  let pair: { first: number; second: number; distance: number } | null = null;
  let cheapest = Number.POSITIVE_INFINITY;
  for (let first = 0; first < groups.length; first++) {
    for (let second = first + 1; second < groups.length; second++) {
      const a = groups[first] as Group;
      const b = groups[second] as Group;
      const dx = 0.5 * (a.x - b.x);
      const dy = a.y - b.y;
      const dz = a.z - b.z;
      const distance = Math.sqrt(dx * dx + dy * dy + dz * dz);
      const cost = groups.length > MAX_COLORS ? distance * Math.sqrt(Math.min(a.weight, b.weight)) : distance;
      if (cost < cheapest) {
        cheapest = cost;
        pair = { first, second, distance };
      }
    }
  }
  return pair;
}

function merge(groups: Group[], first: number, second: number): void {
  const a = groups[first] as Group;
  const b = groups[second] as Group;
  const weight = a.weight + b.weight;
  groups[first] = {
    x: (a.weight * a.x + b.weight * b.x) / weight,
    y: (a.weight * a.y + b.weight * b.y) / weight,
    z: (a.weight * a.z + b.weight * b.z) / weight,
    weight,
  };
  groups.splice(second, 1);
}

/** Rounds colours to sRGB, joins those that print alike, and rounds shares by largest remainders to a sum of 10,000. */
function print(groups: readonly Group[]): Palette {
  const byHex = new Map<string, number>();
  for (const { x, y, z, weight } of groups) {
    const hex = hexOf(...rgbOf(x, y, z));
    byHex.set(hex, (byHex.get(hex) ?? 0) + weight);
  }
  const hex = [...byHex.keys()];
  const weights = [...byHex.values()];
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
