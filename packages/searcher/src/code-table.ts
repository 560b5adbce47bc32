import { type Bits, bitsBytes, createBits, grownBits, hasBit, popCount, setBit } from './bits.ts';
import { Clusters, splitIntoClusters } from './clusters.ts';
import { type CodedQuery, type CodedVector, type Coder, type CodeSizes, MAX_SIGN_SUM } from './codes.ts';
import { copyInto } from './row-table.ts';
import {
  BLOCK_SIZE,
  FIRST_SEGMENT_SIZE,
  type Limit,
  NO_LIMIT,
  type RowVisitor,
  SEGMENT_BITS,
  SEGMENT_SIZE,
  Segment,
  segmentBytes,
} from './segment.ts';

/** Clusters of fewer vectors would not save time. */
const MIN_CLUSTERED = 16_384;
/** Clusters are made again when this share of all vectors is in none. */
const MAX_UNCLUSTERED = 0.2;
const GROWTH = 1.25;
/** Vectors that change positions between two pauses. */
const MOVED_AT_A_TIME = 2_048;

/**
 * Number of vectors that are scanned first if there are no clusters. Their distances rule out many later vectors. Each
 * further step scans twice as many.
 */
const FIRST_SCANNED = 128;

/** The positions of rows that are compared. The memory is reused. */
let positionsOfRows = new Uint32Array(1_024);

/** What a scan of clusters needs of its caller. */
export interface ClusterScan {
  /** Rows with a greater sum of signs are not compared by levels. @param compared how many were compared so far */
  maxSum(compared: number): number;
  readonly visit: RowVisitor;
  /** Rows beyond it may be skipped. */
  readonly limit: Limit;
  /**
   * Called after each cluster. The clusters come nearest first.
   * @param matches how many rows of the cluster were scanned
   * @param smallestSum the smallest sum of signs of those rows that were compared by levels
   * @returns whether the scan ends
   */
  isEnough(matches: number, smallestSum: number): boolean;
}

/**
 * Codes of vectors of many rows: about 0.63 bytes a number. Each vector has a position. Positions are given in
 * ascending order, until clusters are made: then the vectors of a cluster are next to each other.
 */
export class CodeTable {
  readonly coder: Coder;
  readonly #segments: Segment[] = [];
  #count = 0;
  /** The row of each position, and the position of each row. */
  #rows = new Uint32Array(FIRST_SEGMENT_SIZE);
  #positions = new Uint32Array(FIRST_SEGMENT_SIZE);
  #clusters: Clusters | undefined;
  #isScanned = false;
  /** The lengths of the shortest and the longest vector so far. */
  #shortest = Number.POSITIVE_INFINITY;
  #longest = 0;
  rowsWithVector: Bits = createBits(FIRST_SEGMENT_SIZE);

  constructor(coder: Coder) {
    this.coder = coder;
  }

  get bytes(): number {
    const own = this.rowsWithVector.byteLength + this.#rows.byteLength + this.#positions.byteLength;
    return own + this.#segments.reduce((sum, { bytes }) => sum + bytes, 0) + (this.#clusters?.bytes ?? 0);
  }

  /** How many rows have a vector. */
  get count(): number {
    return this.#count;
  }

  /** Whether clusters would make scans of signs faster. */
  get needsClusters(): boolean {
    const unclustered = this.#count - (this.#clusters?.end ?? 0);
    return this.#isScanned && unclustered > Math.max(MIN_CLUSTERED, MAX_UNCLUSTERED * this.#count);
  }

  set(row: number, vector: Float32Array): void {
    const position = this.#positionFor(row);
    const segment = this.#segmentOf(position);
    segment.set(position % SEGMENT_SIZE, vector);
    const length = segment.lengthAt(position % SEGMENT_SIZE);
    this.#shortest = Math.min(this.#shortest, length);
    this.#longest = Math.max(this.#longest, length);
  }

  /**
   * The smallest cosine of the angle between a query and a vector at a squared distance, for vectors of any length
   * here.
   */
  minCosine({ length, square }: CodedVector, squaredDistance: number): number {
    const rest = square - squaredDistance;
    // By the law of cosines the angle is largest at this length. Longer and shorter vectors are at smaller angles.
    const widest = Math.sqrt(Math.max(0, rest));
    const own = Math.max(this.#shortest, Math.min(this.#longest, widest), 1e-30);
    return (rest + own * own) / (2 * Math.max(length, 1e-30) * own);
  }

  /** A copy with only these rows, in the given order. */
  copyOf(rows: Uint32Array): CodeTable {
    const codes = new CodeTable(this.coder);
    codes.#isScanned = this.#isScanned;
    codes.#shortest = this.#shortest;
    codes.#longest = this.#longest;
    const newRows = new Int32Array(this.rowsWithVector.length * 32).fill(-1);
    for (const [row, other] of rows.entries()) newRows[other] = row;
    const starts = this.#clusters?.starts.slice();
    for (let other = 0, cluster = 0; other <= this.#count; other++) {
      while (starts && (starts[cluster] as number) === other && cluster < starts.length) {
        starts[cluster++] = codes.#count;
      }
      const row = other < this.#count ? (newRows[this.#rows[other] as number] as number) : -1;
      if (row < 0) continue;
      const position = codes.#positionFor(row);
      codes.#segmentOf(position).copy(position % SEGMENT_SIZE, this.#segmentOf(other), other % SEGMENT_SIZE);
    }
    codes.#clusters = starts && this.#clusters?.withStarts(starts);
    return codes;
  }

  /**
   * Compares rows by levels, unless their signs show that they are too far: cluster by cluster until the scan ends,
   * then all rows without a cluster.
   *
   * @param rows undefined: all rows
   * @returns how many were compared by levels
   */
  scanClusters(query: CodedQuery, rows: Bits | undefined, scan: ClusterScan): number {
    this.#isScanned = true;
    for (const segment of this.#segments) segment.setQuery(query);
    let compared = 0;
    const maxSum = () => scan.maxSum(compared);
    const scanned = (from: number, to: number) => {
      const part = this.#scan(query, from, to, rows, maxSum, scan.visit, scan.limit);
      compared += part.compared;
      return part;
    };
    const clusters = this.#clusters;
    for (const cluster of clusters?.nearestFirst(query) ?? []) {
      const part = scanned(clusters?.starts[cluster] as number, clusters?.starts[cluster + 1] as number);
      if (part.matches > 0 && scan.isEnough(part.matches, part.smallestSum)) break;
    }
    let size = clusters === undefined ? FIRST_SCANNED : BLOCK_SIZE;
    for (let from = clusters?.end ?? 0; from < this.#count; from += size, size = Math.min(BLOCK_SIZE, 2 * size)) {
      scanned(from, Math.min(this.#count, from + size));
    }
    return compared;
  }

  /**
   * Compares by levels the rows whose signs do not rule out this distance.
   *
   * @param rows undefined: all rows
   * @returns how many were compared
   */
  compareWithin(query: CodedQuery, rows: Bits | undefined, distance: number, visit: RowVisitor): number {
    for (const segment of this.#segments) segment.setQuery(query);
    const maxSum = (segment: Segment) => segment.maxSum(query, distance);
    return this.#scan(query, 0, this.#count, rows, maxSum, visit, NO_LIMIT).compared;
  }

  /** Compares rows that have vectors by levels. @param limit rows beyond it may be skipped */
  compare(query: CodedVector, rows: Uint32Array, visit: RowVisitor, limit: Limit = NO_LIMIT): void {
    if (positionsOfRows.length < rows.length) positionsOfRows = new Uint32Array(2 * rows.length);
    for (let i = 0; i < rows.length; i++) positionsOfRows[i] = this.#positions[rows[i] as number] as number;
    const positions = positionsOfRows.subarray(0, rows.length);
    const segments = this.#segments;
    const counts = new Uint32Array(segments.length);
    const compare = (number: number, count: number) =>
      segments[number]?.compare(query, count, this.#rows, number * SEGMENT_SIZE, visit, limit);
    // Positions of one segment are compared together, a block at a time.
    for (let i = 0; i < positions.length; i++) {
      const position = positions[i] as number;
      const number = segmentOf(position);
      const count = counts[number] as number;
      (segments[number] as Segment).positions[count] = position % SEGMENT_SIZE;
      counts[number] = count + 1;
      if (count + 1 < BLOCK_SIZE) continue;
      compare(number, BLOCK_SIZE);
      counts[number] = 0;
    }
    for (const [number, count] of counts.entries()) if (count > 0) compare(number, count);
  }

  /**
   * Makes clusters and moves the vectors of each together. This takes seconds for a million rows: it pauses often, and
   * rows may be added and searched meanwhile.
   */
  *cluster(): Generator<undefined, void> {
    const count = this.#count;
    const { centroids, clusterOf } = yield* splitIntoClusters(this, count);
    const starts = new Uint32Array(centroids.length + 1);
    for (const cluster of clusterOf) starts[cluster + 1] = (starts[cluster + 1] as number) + 1;
    for (let i = 1; i < starts.length; i++) starts[i] = (starts[i] as number) + (starts[i - 1] as number);
    this.#clusters = undefined;
    // Exchanges each vector that is not in its cluster with the first one of that cluster that is not (McIlroy, Bostic
    // and McIlroy, "Engineering radix sort", 1993).
    const next = starts.slice();
    let moved = 0;
    for (let cluster = 0; cluster < centroids.length; cluster++) {
      for (;;) {
        const position = next[cluster] as number;
        if (position === starts[cluster + 1]) break;
        const own = clusterOf[position] as number;
        const to = next[own] as number;
        next[own] = to + 1;
        if (to === position) continue;
        this.#swap(position, to);
        clusterOf[position] = clusterOf[to] as number;
        clusterOf[to] = own;
        if (++moved % MOVED_AT_A_TIME === 0) yield;
      }
    }
    this.#clusters = Clusters.of(this.coder, centroids, starts);
  }

  estimate(query: CodedVector, positions: Uint32Array): Float64Array {
    const estimates = new Float64Array(positions.length);
    for (let at = 0; at < positions.length; ) {
      const number = segmentOf(positions[at] as number);
      const segment = this.#segments[number] as Segment;
      const end = Math.min(positions.length, at + BLOCK_SIZE);
      let next = at;
      for (; next < end && segmentOf(positions[next] as number) === number; next++) {
        segment.positions[next - at] = (positions[next] as number) % SEGMENT_SIZE;
      }
      segment.estimate(query, next - at, estimates.subarray(at));
      at = next;
    }
    return estimates;
  }

  addRotated(position: number, sums: Float32Array, at: number): void {
    this.#segmentOf(position).addRotated(position % SEGMENT_SIZE, sums, at);
  }

  /**
   * Compares the signs of the positions `from` to `to` (exclusive), and those with near signs by levels.
   * @returns how many of these match, and how many were compared by levels
   */
  #scan(
    query: CodedQuery,
    from: number,
    to: number,
    rows: Bits | undefined,
    maxSum: (segment: Segment) => number,
    visit: RowVisitor,
    limit: Limit,
  ): { matches: number; compared: number; smallestSum: number } {
    const scanned = { matches: 0, compared: 0, smallestSum: MAX_SIGN_SUM };
    for (let at = from; at < to; ) {
      const number = segmentOf(at);
      const segment = this.#segments[number] as Segment;
      const begin = number * SEGMENT_SIZE;
      const first = (at - begin) & ~31;
      const end = Math.min(to - begin, first + BLOCK_SIZE, SEGMENT_SIZE);
      const matching = this.#setMask(segment, begin, at - begin, end, rows);
      if (matching > 0) {
        const near = segment.findBySigns(first, (end - first + 31) & ~31, maxSum(segment));
        segment.compare(query, near, this.#rows, begin, visit, limit);
        scanned.compared += near;
        scanned.smallestSum = Math.min(scanned.smallestSum, segment.smallestSum);
      }
      scanned.matches += matching;
      at = begin + end;
    }
    return scanned;
  }

  /** Sets the mask of a segment to the positions of some rows, in a range of positions. @returns how many there are */
  #setMask({ mask }: Segment, begin: number, from: number, to: number, rows: Bits | undefined): number {
    let count = 0;
    for (let word = from >>> 5, first = word * 32; first < to; word++, first += 32) {
      let bits = -1;
      if (rows !== undefined) {
        bits = 0;
        for (let i = 0; i < 32; i++) {
          const row = this.#rows[begin + first + i] as number;
          bits |= (((rows[row >>> 5] as number) >>> (row & 31)) & 1) << i;
        }
      }
      if (first < from) bits &= -1 << (from - first);
      if (to - first < 32) bits &= ~(-1 << (to - first));
      mask[word] = bits;
      count += popCount(bits);
    }
    return count;
  }

  /** The position of a row; a new one if it has none. */
  #positionFor(row: number): number {
    if (hasBit(this.rowsWithVector, row)) return this.#positions[row] as number;
    this.rowsWithVector = grownBits(this.rowsWithVector, row + 1);
    setBit(this.rowsWithVector, row);
    const position = this.#count++;
    if (position >= this.#rows.length) this.#rows = copyInto(this.#rows, new Uint32Array(Math.ceil(GROWTH * position)));
    if (row >= this.#positions.length)
      this.#positions = copyInto(this.#positions, new Uint32Array(Math.ceil(GROWTH * row)));
    this.#rows[position] = row;
    this.#positions[row] = position;
    return position;
  }

  #swap(position: number, other: number): void {
    this.#segmentOf(position).swap(position % SEGMENT_SIZE, this.#segmentOf(other), other % SEGMENT_SIZE);
    const [row, otherRow] = [this.#rows[position] as number, this.#rows[other] as number];
    this.#rows[position] = otherRow;
    this.#rows[other] = row;
    this.#positions[row] = other;
    this.#positions[otherRow] = position;
  }

  #segmentOf(position: number): Segment {
    const number = segmentOf(position);
    while (this.#segments.length <= number) this.#segments.push(new Segment(this.coder, FIRST_SEGMENT_SIZE));
    const segment = this.#segments[number] as Segment;
    const needed = (position % SEGMENT_SIZE) + 1;
    if (needed <= segment.capacity) return segment;
    const capacity = Math.min(SEGMENT_SIZE, Math.max(needed, 2 * segment.capacity));
    const larger = new Segment(this.coder, Math.ceil(capacity / FIRST_SEGMENT_SIZE) * FIRST_SEGMENT_SIZE, segment);
    this.#segments[number] = larger;
    return larger;
  }
}

const segmentOf = (position: number): number => position >>> SEGMENT_BITS;

/**
 * Maximum bytes of {@link CodeTable} with this many rows, without clusters: the capacity of the last segment doubles.
 */
export function codesBytes(sizes: CodeSizes, rows: number): number {
  const whole = Math.floor(rows / SEGMENT_SIZE);
  const last = Math.min(SEGMENT_SIZE, Math.max(FIRST_SEGMENT_SIZE, 2 * (rows % SEGMENT_SIZE)));
  const positions = 8 * Math.ceil(GROWTH * Math.max(rows, FIRST_SEGMENT_SIZE));
  return whole * segmentBytes(sizes, SEGMENT_SIZE) + segmentBytes(sizes, last) + bitsBytes(rows) + positions;
}
