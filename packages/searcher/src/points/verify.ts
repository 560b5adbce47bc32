import { type PointSet, TURNS } from './point-format.ts';
import { BitComparer } from './words.ts';

/** Two points are the same if at most so many of their bits differ, and clearly fewer than for any other point. */
const MAX_DIFFERENCE = 48;
const RATIO = 0.9;
/** Others do not count. */
const MAX_OTHER = Math.floor(MAX_DIFFERENCE / RATIO);
/** Points nearer than this to each other are one, in long sides of the picture. */
const SAME_PLACE = 0.02;
/** Places that a transform maps to each other differ by so many pixels of their level, and long sides of the query. */
const PIXELS_OFF = 2.2;
const OFF = 0.006;
/** The final matches are nearer. */
const TIGHT = 0.6;
const MAX_TURN_OFF = 0.4;
const MAX_SCALE_OFF = 0.55;
/** Transforms are tried from pairs of the best matches. */
const BEST_MATCHES = 40;
const MAX_TRIES = 400;
const MIN_APART = 0.03;
const [MIN_SCALE, MAX_SCALE] = [0.09, 4];
/** Matches on a line prove nothing: letters of a text are alike. */
const MIN_SPREAD = 0.04;

/** Maps a place in one picture to another one: x' = a x - b y + x0, y' = b x + a y + y0. */
interface Similarity {
  readonly a: number;
  readonly b: number;
  readonly x: number;
  readonly y: number;
}

/** What a query and a picture have in common. */
export interface PartMatch {
  /**
   * How sure it is: the sum over all matches of how few of their bits differ. Pictures without a common part rarely
   * reach 8.
   */
  readonly strength: number;
  /** Maps the picture to the query, both in units of their long sides. */
  readonly transform: Similarity;
}

interface Match {
  /** In the query. */
  readonly x: number;
  readonly y: number;
  readonly scale: number;
  /** In the picture. */
  readonly u: number;
  readonly v: number;
  /** Of the query relative to the picture, in radians. */
  readonly turn: number;
  readonly difference: number;
  /** The logarithm of how large it is in the query. */
  readonly growth: number;
}

let comparer: BitComparer | undefined;

/**
 * Checks by all bits and by geometry whether a query and a picture have a part in common (RANSAC, Fischler and Bolles
 * 1981, with pairs of the best matches instead of random ones).
 */
export function findPart(query: PointSet, picture: PointSet): PartMatch | undefined {
  const matches = matchesOf(query, picture).sort((a, b) => a.difference - b.difference);
  let best: { transform: Similarity; inliers: Match[] } | undefined;
  for (const transform of transformsOf(matches.slice(0, BEST_MATCHES))) {
    const least = best?.inliers.length ?? 2;
    if (following(transform, matches).length <= least) continue;
    const inliers = inliersOf(transform, matches);
    if (inliers.length > least) best = { transform, inliers };
  }
  if (best === undefined) return undefined;
  for (let round = 0; round < 2; round++) {
    const transform = fitted(best.inliers);
    const inliers = transform && inliersOf(transform, matches);
    if (!transform || !inliers || inliers.length < best.inliers.length) break;
    best = { transform, inliers };
  }
  const { transform } = best;
  const sure = inliersOf(transform, matches, TIGHT);
  const span = (values: number[]) => Math.max(...values) - Math.min(...values);
  if (sure.length < 3) return undefined;
  if (Math.min(span(sure.map(({ u }) => u)), span(sure.map(({ v }) => v))) < MIN_SPREAD) return undefined;
  return { strength: sure.reduce((sum, { difference }) => sum + Math.max(0, 50 - difference) / 20, 0), transform };
}

function matchesOf(query: PointSet, picture: PointSet): Match[] {
  comparer ??= new BitComparer();
  comparer.hold(picture.bits);
  const matches: Match[] = [];
  for (let i = 0; i < query.count; i++) {
    const found = comparer.near(8, query.bits, 8 * i, MAX_OTHER);
    let [at, least] = [-1, MAX_DIFFERENCE + 1];
    for (let j = 0; j < found.length; j++) {
      const difference = (found[j] as number) & 511;
      if (difference < least) [at, least] = [(found[j] as number) >>> 9, difference];
    }
    if (at < 0) continue;
    const [u, v] = [picture.x[at] as number, picture.y[at] as number];
    let second = Number.POSITIVE_INFINITY;
    for (let j = 0; j < found.length; j++) {
      const [other, difference] = [(found[j] as number) >>> 9, (found[j] as number) & 511];
      if (difference >= second) continue;
      const isOther =
        ((picture.x[other] as number) - u) ** 2 + ((picture.y[other] as number) - v) ** 2 > SAME_PLACE ** 2;
      if (isOther) second = difference;
    }
    if (least >= RATIO * second) continue;
    matches.push({
      ...{ x: query.x[i] as number, y: query.y[i] as number, scale: query.scale[i] as number, u, v, difference: least },
      growth: Math.log((query.scale[i] as number) / (picture.scale[at] as number)),
      turn: (((query.turn[i] as number) - (picture.turn[at] as number)) * 2 * Math.PI) / TURNS,
    });
  }
  return matches;
}

function* transformsOf(matches: readonly Match[]): Generator<Similarity> {
  let tries = 0;
  for (const [i, first] of matches.entries()) {
    for (const second of matches.slice(i + 1)) {
      const [du, dv] = [second.u - first.u, second.v - first.v];
      const [dx, dy] = [second.x - first.x, second.y - first.y];
      const [before, after] = [Math.hypot(du, dv), Math.hypot(dx, dy)];
      const scale = after / before;
      if (before < MIN_APART || after < 0.6 * MIN_APART || scale < MIN_SCALE || scale > MAX_SCALE) continue;
      const angle = Math.atan2(dy, dx) - Math.atan2(dv, du);
      const growth = Math.log(scale);
      if (!fits(first, growth, angle) || !fits(second, growth, angle)) continue;
      const [a, b] = [scale * Math.cos(angle), scale * Math.sin(angle)];
      yield { a, b, x: first.x - a * first.u + b * first.v, y: first.y - b * first.u - a * first.v };
      if (++tries === MAX_TRIES) return;
    }
  }
}

/** Whether the turn and the scale of the points of a match are those of a transform. */
function fits(match: Match, growth: number, angle: number): boolean {
  return Math.abs(match.growth - growth) <= MAX_SCALE_OFF && Math.abs(turned(match.turn - angle)) <= MAX_TURN_OFF;
}

/** The same angle from -π to π. */
function turned(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

/** The matches that follow a transform, each place once. @param share of the tolerance */
function inliersOf(transform: Similarity, matches: readonly Match[], share = 1): Match[] {
  const [seen, seenInQuery] = [new Set<number>(), new Set<number>()];
  return following(transform, matches, share).filter(({ u, v, x, y }) => {
    const [place, placeInQuery] = [cell(u, v, 80), cell(x, y, 128)];
    if (seen.has(place) || seenInQuery.has(placeInQuery)) return false;
    seen.add(place);
    seenInQuery.add(placeInQuery);
    return true;
  });
}

function following({ a, b, x, y }: Similarity, matches: readonly Match[], share = 1): Match[] {
  const [growth, angle] = [Math.log(Math.hypot(a, b)), Math.atan2(b, a)];
  const found: Match[] = [];
  for (const match of matches) {
    const { u, v } = match;
    const most = share * (PIXELS_OFF * match.scale + OFF);
    if (Math.abs(a * u - b * v + x - match.x) > most || Math.abs(b * u + a * v + y - match.y) > most) continue;
    if (fits(match, growth, angle)) found.push(match);
  }
  return found;
}

const cell = (x: number, y: number, cells: number) => Math.round(x * cells) * 4_096 + Math.round(y * cells);

/** The transform with the least squares of the errors. */
function fitted(matches: readonly Match[]): Similarity | undefined {
  const mean = (of: (match: Match) => number) => matches.reduce((sum, match) => sum + of(match), 0) / matches.length;
  const [u, v, x, y] = [mean((m) => m.u), mean((m) => m.v), mean((m) => m.x), mean((m) => m.y)];
  let [along, across, square] = [0, 0, 0];
  for (const match of matches) {
    const [du, dv, dx, dy] = [match.u - u, match.v - v, match.x - x, match.y - y];
    along += du * dx + dv * dy;
    across += du * dy - dv * dx;
    square += du * du + dv * dv;
  }
  if (square === 0) return undefined;
  const [a, b] = [along / square, across / square];
  return { a, b, x: x - a * u + b * v, y: y - b * u - a * v };
}
