import { type PointSet, TURNS } from './point-format.ts';
import { BitComparer } from './words.ts';

/** Two points are the same if at most so many of their bits differ, and clearly fewer than for any other point. */
const MAX_DIFFERENCE = 22;
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
/** Matches only count if they are as near as this to the turn and the scale of all. */
const TIGHT_TURN = 0.3;
/** Transforms are tried from pairs of the best matches. */
const BEST_MATCHES = 40;
const MAX_TRIES = 400;
const MIN_APART = 0.03;
const [MIN_SCALE, MAX_SCALE] = [0.09, 4];
/** Matches on a line prove nothing: letters of a text are alike. */
const MIN_SPREAD = 0.04;
/** No points are found so near to the border of a picture, in pixels of their level. */
const BORDER = 18;

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
   * How sure it is: ten times the root of how alike the matching points are, summed, times their share of the points
   * where the pictures overlap: two guitars have many points alike, but more that are not. Pictures without a common
   * part rarely reach 8.6.
   */
  readonly strength: number;
  /** Maps the picture to the query, both in units of their long sides. */
  readonly transform: Similarity;
}

/** Pairs of a point of the query and the point of the picture that is like it, as columns, most alike first. */
interface Matches {
  readonly count: number;
  /** In the query. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly scale: Float64Array;
  /** In the picture. */
  readonly u: Float64Array;
  readonly v: Float64Array;
  /** Of the query relative to the picture, in radians. */
  readonly turn: Float64Array;
  /** The logarithm of how large it is in the query. */
  readonly growth: Float64Array;
  readonly difference: Uint16Array;
  /** Numbers of the places of both points: nearly the same place has the same number. */
  readonly place: Uint16Array;
  readonly placeInQuery: Uint16Array;
}

let comparer: BitComparer | undefined;

/**
 * Checks by all bits and by geometry whether a query and a picture have a part in common (RANSAC, Fischler and Bolles
 * 1981, with pairs of the best matches instead of random ones).
 */
export function findPart(query: PointSet, picture: PointSet): PartMatch | undefined {
  const matches = matchesOf(query, picture);
  let best = bestTransform(matches);
  if (best === undefined) return undefined;
  for (let round = 0; round < 2; round++) {
    const transform = fitted(best.inliers, matches);
    const inliers = transform && inliersOf(transform, matches);
    if (!transform || !inliers || inliers.length < best.inliers.length) break;
    best = { transform, inliers };
  }
  const { transform } = best;
  const sure = inliersOf(transform, matches, TIGHT);
  const span = (column: Float64Array) => {
    const values = sure.map((i) => column[i] as number);
    return Math.max(...values) - Math.min(...values);
  };
  if (sure.length < 3) return undefined;
  if (Math.min(span(matches.u), span(matches.v)) < MIN_SPREAD) return undefined;
  const [growth, angle] = poseOf(transform);
  const counted = sure.filter((i) => fits(matches, i, growth, angle, TIGHT_TURN));
  const alike = counted.reduce((sum, i) => sum + Math.max(0, 24 - (matches.difference[i] as number)) / 9.6, 0);
  const common = Math.min(within(picture, transform, query), within(query, inverse(transform), picture));
  const share = counted.length / Math.max(sure.length, common);
  return { strength: 10 * Math.sqrt(alike * share), transform };
}

function matchesOf(query: PointSet, picture: PointSet): Matches {
  comparer ??= new BitComparer();
  comparer.hold(picture.bits);
  const { found } = comparer;
  /** The point of the query, that of the picture, and their difference. */
  const pairs: (readonly [number, number, number])[] = [];
  for (let i = 0; i < query.count; i++) {
    const count = comparer.near(query.bits, 4 * i, MAX_OTHER);
    let [at, least] = [-1, MAX_DIFFERENCE + 1];
    for (let j = 0; j < count; j++) {
      const difference = (found[j] as number) & 511;
      if (difference < least) [at, least] = [(found[j] as number) >>> 9, difference];
    }
    if (at < 0) continue;
    const [u, v] = [picture.x[at] as number, picture.y[at] as number];
    let second = Number.POSITIVE_INFINITY;
    for (let j = 0; j < count; j++) {
      const [other, difference] = [(found[j] as number) >>> 9, (found[j] as number) & 511];
      if (difference >= second) continue;
      const isOther =
        ((picture.x[other] as number) - u) ** 2 + ((picture.y[other] as number) - v) ** 2 > SAME_PLACE ** 2;
      if (isOther) second = difference;
    }
    if (least < RATIO * second) pairs.push([i, at, least]);
  }
  pairs.sort((a, b) => a[2] - b[2]);
  const { length: count } = pairs;
  const numbers = () => new Float64Array(count);
  const [x, y, u, v] = [numbers(), numbers(), numbers(), numbers()];
  const [scale, turn, growth, difference] = [numbers(), numbers(), numbers(), new Uint16Array(count)];
  for (const [n, [i, at, least]] of pairs.entries()) {
    x[n] = query.x[i] as number;
    y[n] = query.y[i] as number;
    u[n] = picture.x[at] as number;
    v[n] = picture.y[at] as number;
    scale[n] = query.scale[i] as number;
    turn[n] = (((query.turn[i] as number) - (picture.turn[at] as number)) * 2 * Math.PI) / TURNS;
    growth[n] = Math.log((query.scale[i] as number) / (picture.scale[at] as number));
    difference[n] = least;
  }
  return {
    count,
    x,
    y,
    u,
    v,
    scale,
    turn,
    growth,
    difference,
    place: placeNumbers(u, v, 80),
    placeInQuery: placeNumbers(x, y, 128),
  };
}

/** Numbers of the cells of a grid in which places are, from 0. */
function placeNumbers(x: Float64Array, y: Float64Array, cells: number): Uint16Array {
  const numbers = new Map<number, number>();
  return Uint16Array.from(x, (_, i) => {
    const cell = Math.round((x[i] as number) * cells) * 4_096 + Math.round((y[i] as number) * cells);
    const number = numbers.get(cell) ?? numbers.size;
    numbers.set(cell, number);
    return number;
  });
}

/** The transform that most matches follow, of those that two of the best matches give. */
function bestTransform(matches: Matches): { transform: Similarity; inliers: number[] } | undefined {
  const { x, y, u, v, growth, turn } = matches;
  const count = Math.min(matches.count, BEST_MATCHES);
  let best: { transform: Similarity; inliers: number[] } | undefined;
  let tries = 0;
  for (let i = 0; i < count; i++) {
    for (let j = i + 1; j < count; j++) {
      if (!fits(matches, i, growth[j] as number, turn[j] as number, 2)) continue;
      const [ui, vi, xi, yi] = [u[i] as number, v[i] as number, x[i] as number, y[i] as number];
      const [du, dv] = [(u[j] as number) - ui, (v[j] as number) - vi];
      const [dx, dy] = [(x[j] as number) - xi, (y[j] as number) - yi];
      const [before, after] = [Math.sqrt(du * du + dv * dv), Math.sqrt(dx * dx + dy * dy)];
      const scale = after / before;
      if (before < MIN_APART || after < 0.6 * MIN_APART || scale < MIN_SCALE || scale > MAX_SCALE) continue;
      const [a, b] = [(dx * du + dy * dv) / before ** 2, (dy * du - dx * dv) / before ** 2];
      const [logarithm, angle] = [Math.log(scale), Math.atan2(b, a)];
      if (!fits(matches, i, logarithm, angle) || !fits(matches, j, logarithm, angle)) continue;
      const transform = { a, b, x: xi - a * ui + b * vi, y: yi - b * ui - a * vi };
      const inliers = inliersOf(transform, matches, 1, best?.inliers.length ?? 2);
      if (inliers.length > (best?.inliers.length ?? 2)) best = { transform, inliers };
      if (++tries === MAX_TRIES) return best;
    }
  }
  return best;
}

/** Whether the turn and the scale of the points of a match are others, within so many times the tolerance. */
function fits({ growth, turn }: Matches, i: number, wantedGrowth: number, angle: number, times = 1): boolean {
  return (
    Math.abs((growth[i] as number) - wantedGrowth) <= times * MAX_SCALE_OFF &&
    Math.abs(turned((turn[i] as number) - angle)) <= times * MAX_TURN_OFF
  );
}

/** The logarithm of the scale of a transform, and its turn. */
function poseOf({ a, b }: Pick<Similarity, 'a' | 'b'>): [growth: number, angle: number] {
  return [Math.log(Math.sqrt(a * a + b * b)), Math.atan2(b, a)];
}

function inverse({ a, b, x, y }: Similarity): Similarity {
  const square = a * a + b * b;
  return { a: a / square, b: -b / square, x: -(a * x + b * y) / square, y: (b * x - a * y) / square };
}

/** How many points of a picture are within another one, where it could have them, too. */
function within({ count, x, y, scale }: PointSet, { a, b, x: right, y: down }: Similarity, other: PointSet): number {
  const border = BORDER * Math.sqrt(a * a + b * b);
  let found = 0;
  for (let i = 0; i < count; i++) {
    const [u, v, least] = [x[i] as number, y[i] as number, border * (scale[i] as number)];
    const [to, below] = [a * u - b * v + right, b * u + a * v + down];
    if (Math.min(to, below, other.width - to, other.height - below) >= least) found++;
  }
  return found;
}

/** The same angle from -π to π. */
function turned(angle: number): number {
  return angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI));
}

/**
 * The matches that follow a transform, each place once.
 *
 * @param share of the tolerance
 * @param least with at most so many matches that follow the transform, none are returned
 */
function inliersOf({ a, b, x: right, y: down }: Similarity, matches: Matches, share = 1, least = 0): number[] {
  const { count, x, y, u, v, scale, place, placeInQuery } = matches;
  const [growth, angle] = poseOf({ a, b });
  const found: number[] = [];
  for (let i = 0; i < count; i++) {
    const [ui, vi] = [u[i] as number, v[i] as number];
    const most = share * (PIXELS_OFF * (scale[i] as number) + OFF);
    if (Math.abs(a * ui - b * vi + right - (x[i] as number)) > most) continue;
    if (Math.abs(b * ui + a * vi + down - (y[i] as number)) > most) continue;
    if (fits(matches, i, growth, angle)) found.push(i);
  }
  if (found.length <= least) return [];
  const [seen, seenInQuery] = [new Set<number>(), new Set<number>()];
  return found.filter((i) => {
    const [one, other] = [place[i] as number, placeInQuery[i] as number];
    if (seen.has(one) || seenInQuery.has(other)) return false;
    seen.add(one);
    seenInQuery.add(other);
    return true;
  });
}

/** The transform with the least squares of the errors. */
function fitted(inliers: readonly number[], { u, v, x, y }: Matches): Similarity | undefined {
  const mean = (column: Float64Array) => inliers.reduce((sum, i) => sum + (column[i] as number), 0) / inliers.length;
  const [meanU, meanV, meanX, meanY] = [mean(u), mean(v), mean(x), mean(y)];
  let [along, across, square] = [0, 0, 0];
  for (const i of inliers) {
    const [du, dv] = [(u[i] as number) - meanU, (v[i] as number) - meanV];
    const [dx, dy] = [(x[i] as number) - meanX, (y[i] as number) - meanY];
    along += du * dx + dv * dy;
    across += du * dy - dv * dx;
    square += du * du + dv * dv;
  }
  if (square === 0) return undefined;
  const [a, b] = [along / square, across / square];
  return { a, b, x: meanX - a * meanU + b * meanV, y: meanY - b * meanU - a * meanV };
}
