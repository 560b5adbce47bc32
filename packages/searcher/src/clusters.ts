import { createRandom } from '@akin/domain/random';
import type { CodedQuery, CodedVector, Coder } from './codes.ts';
import { Segment } from './segment.ts';

/*
 * Clusters of codes (an inverted file, IVF: Jégou, Douze and Schmid 2011): a search compares the clusters near its
 * query first and stops when it has found enough. Centroids come from k-means in two steps: few clusters, and a few in
 * each of these. Everything is computed from levels, because the vectors themselves are not in memory.
 */

/** Target number of vectors in a cluster. */
const CLUSTER_SIZE = 500;
/** Minimum and maximum number of clusters of the first step, and of the parts of each of them. */
const MIN_SPLIT = 8;
const MAX_SPLIT = 64;
/** Vectors of the sample for each centroid. */
const SAMPLE = 24;
const ROUNDS = 6;
/** Vectors that get their cluster between two pauses. */
const ASSIGNED_AT_A_TIME = 2_048;

/** The codes to split, by their positions from 0 on. */
export interface Clusterable {
  readonly coder: Coder;
  /** Estimates the squared distances of positions from a query. */
  estimate(query: CodedVector, positions: Uint32Array): Float64Array;
  addRotated(position: number, sums: Float32Array, at: number): void;
}

/** Clusters of the first positions: those of cluster `i` begin at `starts[i]` and end before `starts[i + 1]`. */
export class Clusters {
  readonly starts: Uint32Array;
  readonly #centroids: Segment;
  readonly #all: Uint32Array;

  constructor(centroids: Segment, starts: Uint32Array) {
    this.#centroids = centroids;
    this.starts = starts;
    this.#all = Uint32Array.from({ length: starts.length - 1 }, (_, i) => i);
  }

  static of(coder: Coder, centroids: readonly Float32Array[], starts: Uint32Array): Clusters {
    const segment = new Segment(coder, Math.ceil(centroids.length / 32) * 32);
    for (const [cluster, centroid] of centroids.entries()) segment.setRotated(cluster, centroid);
    return new Clusters(segment, starts);
  }

  /** Positions from this one on have no cluster. */
  get end(): number {
    return this.starts.at(-1) as number;
  }

  get bytes(): number {
    return this.#centroids.bytes + this.starts.byteLength + this.#all.byteLength;
  }

  /** The same clusters at other positions. */
  withStarts(starts: Uint32Array): Clusters {
    return new Clusters(this.#centroids, starts);
  }

  /**
   * The clusters by the estimated distance of their centroids from a query, nearest first. Those with nearly the same
   * distance come in any order.
   */
  nearestFirst(query: CodedQuery): Uint32Array {
    const squares = new Float64Array(this.#all.length);
    this.#centroids.positions.set(this.#all);
    this.#centroids.estimate(query, this.#all.length, squares);
    const max = squares.reduce((most, square) => Math.max(most, square), 1e-30);
    // Both in one number, because numbers are sorted fastest.
    const keys = Uint32Array.from(squares, (square, cluster) => Math.floor((65_535 * square) / max) * 65_536 + cluster);
    return keys.sort().map((key) => key & 65_535);
  }
}

/** Clusters before their vectors are moved together. */
export interface Split {
  readonly centroids: readonly Float32Array[];
  /** The cluster of each position. */
  readonly clusterOf: Uint16Array;
}

/** Finds clusters of the first `count` positions. It pauses often: positions may be added during a pause. */
export function* splitIntoClusters(codes: Clusterable, count: number): Generator<undefined, Split> {
  const { coder } = codes;
  const split = Math.max(MIN_SPLIT, Math.min(MAX_SPLIT, Math.round(Math.sqrt(count / CLUSTER_SIZE))));
  const first = yield* kMeans(codes, sampleOf(count, SAMPLE * split), split);
  const codedFirst = first.map((centroid) => coder.codeNumbers(centroid));
  const sample = sampleOf(count, SAMPLE * split ** 2);
  const groups = yield* groupsOf(codes, sample, codedFirst);
  const centroids: Float32Array[] = [];
  const coded: CodedVector[] = [];
  /** The first centroid of each group. */
  const begins = [0];
  for (const [group, positions] of groups.entries()) {
    const own = positions.length < split ? [first[group] as Float32Array] : yield* kMeans(codes, positions, split);
    centroids.push(...own);
    coded.push(...own.map((centroid) => coder.codeNumbers(centroid)));
    begins.push(centroids.length);
  }
  const clusterOf = new Uint16Array(count);
  for (let from = 0; from < count; from += ASSIGNED_AT_A_TIME) {
    const length = Math.min(ASSIGNED_AT_A_TIME, count - from);
    const positions = Uint32Array.from({ length }, (_, i) => from + i);
    const nearest = new Float64Array(length).fill(Number.POSITIVE_INFINITY);
    for (const [group, members] of nearGroups(codes, positions, codedFirst).entries()) {
      for (let cluster = begins[group] as number; cluster < (begins[group + 1] as number); cluster++) {
        const squares = codes.estimate(coded[cluster] as CodedVector, members);
        for (let i = 0; i < members.length; i++) {
          const position = members[i] as number;
          if ((squares[i] as number) >= (nearest[position - from] as number)) continue;
          nearest[position - from] = squares[i] as number;
          clusterOf[position] = cluster;
        }
      }
    }
    yield;
  }
  return { centroids, clusterOf };
}

/** Lloyd's algorithm from random vectors. @returns rotated centroids */
function* kMeans(codes: Clusterable, positions: Uint32Array, count: number): Generator<undefined, Float32Array[]> {
  const { coder } = codes;
  const { dimensions } = coder;
  const random = createRandom(positions.length);
  const numbers = new Float32Array(count * dimensions);
  const centroids = Array.from({ length: count }, (_, i) => numbers.subarray(i * dimensions, (i + 1) * dimensions));
  const seed = (cluster: number) =>
    codes.addRotated(positions[Math.floor(random() * positions.length)] as number, numbers, cluster * dimensions);
  for (let cluster = 0; cluster < count; cluster++) seed(cluster);
  const members = new Uint32Array(count);
  for (let round = 0; round < ROUNDS; round++) {
    const coded = centroids.map((centroid) => coder.codeNumbers(centroid));
    const chosen = chooseNearest(codes, positions, coded);
    numbers.fill(0);
    members.fill(0);
    for (let i = 0; i < positions.length; i++) {
      const cluster = chosen[i] as number;
      members[cluster] = (members[cluster] as number) + 1;
      codes.addRotated(positions[i] as number, numbers, cluster * dimensions);
    }
    for (const [cluster, centroid] of centroids.entries()) {
      const size = members[cluster] as number;
      if (size === 0) seed(cluster);
      else for (let i = 0; i < dimensions; i++) centroid[i] = (centroid[i] as number) / size;
    }
    yield;
  }
  return centroids;
}

/** The positions that are nearest to each of some centroids. */
function* groupsOf(
  codes: Clusterable,
  positions: Uint32Array,
  centroids: readonly CodedVector[],
): Generator<undefined, Uint32Array[]> {
  const groups: number[][] = centroids.map(() => []);
  for (let from = 0; from < positions.length; from += ASSIGNED_AT_A_TIME) {
    const part = positions.subarray(from, from + ASSIGNED_AT_A_TIME);
    for (const [i, group] of chooseNearest(codes, part, centroids).entries()) groups[group]?.push(part[i] as number);
    yield;
  }
  return groups.map((group) => Uint32Array.from(group));
}

/**
 * For each centroid the positions to which it is the nearest or the next one: the nearest cluster may be in either
 * group.
 */
function nearGroups(codes: Clusterable, positions: Uint32Array, centroids: readonly CodedVector[]): Uint32Array[] {
  const squares = centroids.map((centroid) => codes.estimate(centroid, positions));
  const groups: number[][] = centroids.map(() => []);
  for (let i = 0; i < positions.length; i++) {
    let [first, second] = [-1, -1];
    let [min, next] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let group = 0; group < squares.length; group++) {
      const square = (squares[group] as Float64Array)[i] as number;
      if (square < min) {
        [second, next] = [first, min];
        [first, min] = [group, square];
      } else if (square < next) {
        [second, next] = [group, square];
      }
    }
    groups[first]?.push(positions[i] as number);
    groups[second]?.push(positions[i] as number);
  }
  return groups.map((group) => Uint32Array.from(group));
}

/** The number of the nearest centroid of each position. */
function chooseNearest(codes: Clusterable, positions: Uint32Array, centroids: readonly CodedVector[]): Uint16Array {
  const nearest = new Float64Array(positions.length).fill(Number.POSITIVE_INFINITY);
  const chosen = new Uint16Array(positions.length);
  for (const [number, centroid] of centroids.entries()) {
    const squares = codes.estimate(centroid, positions);
    for (let i = 0; i < positions.length; i++) {
      if ((squares[i] as number) >= (nearest[i] as number)) continue;
      nearest[i] = squares[i] as number;
      chosen[i] = number;
    }
  }
  return chosen;
}

/** Positions at equal intervals. */
function sampleOf(count: number, max: number): Uint32Array {
  const length = Math.min(count, max);
  return Uint32Array.from({ length }, (_, i) => Math.floor((i * count) / length));
}
