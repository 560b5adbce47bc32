import { type Bits, countBits, createBits, forEachBit, hasBit, intersect, setBit, withRoom } from './bits.ts';
import { type CodedQuery, Coder } from './codes.ts';
import { nth } from './nth.ts';
import { LEFT_OUT } from './plain-kernel.ts';
import { RowTable } from './row-table.ts';
import { Codes, Floats } from './vectors.ts';

/** A search among the rows that a commit sees. */
export interface VectorQuery {
  readonly commit: number;
  readonly module: string;
  /** Rows must have all of them. */
  readonly filters: readonly number[];
  readonly vector: Float32Array;
  /** How many are wanted; ignored where `maxDistance` is given, which wants all within. */
  readonly wanted: number;
  readonly maxDistance?: number | undefined;
  /** Up to so many matches are compared by bounds, so that nothing can be missed; all are when Infinity. */
  readonly exactRows: number;
  /** Otherwise so many are compared by levels, and up to 20 times as many where they crowd around the query. */
  readonly leastCompared: number;
}

/** Documents among which the answer is, for exact distances to tell. */
export interface Candidates {
  /** How many rows match the filters and have a vector of the module. */
  readonly matches: number;
  /** Whether the answer cannot be elsewhere. */
  readonly isExact: boolean;
  /** How many vectors were compared. */
  readonly compared: number;
  readonly docs: Float64Array;
  /** Of each: least, likeliest and greatest squared distance. */
  readonly low: Float32Array;
  readonly likely: Float32Array;
  readonly high: Float32Array;
}

/** Candidates that an answer by estimates hands on, and how many more than are wanted. */
const LEAST_HANDED_ON = 50;
const SPARE = 30;
/** So many times as many rows are compared where they crowd. */
const CROWD = 20;
/** Signs tell distances with that many deviations of error. */
const DEVIATIONS = 3;
/** Dead rows are removed when they are so many, and so large a share of all. */
const MANY_DEAD = 1_000;
const DEAD_SHARE = 0.25;

/** The rows of one collection, its codes and filters, in one thread. No I/O, and nothing asynchronous. */
export class SearchedCollection {
  readonly #exactRows: number;
  readonly #rows = new RowTable();
  readonly #vectors = new Map<string, Floats | Codes>();
  readonly #filters = new Map<number, Bits>();
  /** The last commit whose changes are here, and the first one that can still be searched. */
  #commit = 0;
  #oldest = 0;
  /** Whether changes of the next commit are here already. */
  #isAhead = false;

  /** @param exactRows up to so many rows keep their vectors as they are */
  constructor(exactRows: number) {
    this.#exactRows = exactRows;
  }

  get bytes(): number {
    let bytes = this.#rows.bytes;
    for (const vectors of this.#vectors.values()) bytes += vectors.bytes;
    for (const bits of this.#filters.values()) bytes += bits.byteLength;
    return bytes;
  }

  addRow(doc: number, from: number): void {
    this.#isAhead = true;
    this.#rows.add(doc, from);
  }

  endRow(doc: number, to: number): void {
    this.#isAhead = true;
    this.#rows.end(doc, to);
  }

  /** Gives a row its vector of a module; of rows that are not here nothing is kept. */
  setVector(module: string, doc: number, vector: Float32Array): void {
    const row = this.#rows.rowOf(doc);
    if (row < 0) return;
    let vectors = this.#vectors.get(module);
    if (vectors === undefined) {
      vectors = new Floats(vector.length);
      this.#vectors.set(module, vectors);
    }
    // Twice as many as are compared exactly: codes take over before dead rows make it slow.
    if (vectors instanceof Floats && row >= 2 * this.#exactRows) {
      vectors = codesOf(vectors, new Coder(vector.length));
      this.#vectors.set(module, vectors);
    }
    vectors.set(row, vector);
  }

  /** Adds rows to those that match a filter. */
  extendFilter(filter: number, docs: Iterable<number>): void {
    const bits = withRoom(this.#filters.get(filter) ?? createBits(this.#rows.count), this.#rows.count);
    for (const doc of docs) {
      const row = this.#rows.rowOf(doc);
      if (row >= 0) setBit(bits, row);
    }
    this.#filters.set(filter, bits);
  }

  dropFilter(filter: number): void {
    this.#filters.delete(filter);
  }

  /** All changes up to a commit are here. */
  advance(commit: number): void {
    this.#commit = commit;
    this.#isAhead = false;
    if (this.#oldest === 0) this.#oldest = commit;
    const { dead, count } = this.#rows;
    if (dead >= MANY_DEAD && dead > DEAD_SHARE * count) this.#removeDead();
  }

  /** @returns undefined where the commit cannot be searched any more, or not yet, or a filter is not here */
  search(query: VectorQuery): Candidates | undefined {
    const { commit, module, filters } = query;
    if (commit < this.#oldest || commit > this.#commit) return undefined;
    const vectors = this.#vectors.get(module);
    const rows = this.#rows.seenBy(commit, commit === this.#commit && !this.#isAhead);
    intersect(rows, vectors?.described ?? createBits(0));
    for (const filter of filters) {
      const bits = this.#filters.get(filter);
      if (bits === undefined) return undefined;
      intersect(rows, bits);
    }
    const matches = countBits(rows);
    const found = new Found(this.#rows, matches);
    if (matches === 0 || vectors === undefined) return found.all(0);
    const { maxDistance, vector } = query;
    const most = maxDistance === undefined ? undefined : maxDistance ** 2;
    if (vectors instanceof Floats) {
      vectors.compare(vector, rows, (row, low, likely, high) => {
        if (most === undefined || low <= most + 1e-6) found.add(row, low, likely, high);
      });
      return most === undefined ? found.nearestByBounds(query.wanted, matches) : found.all(matches);
    }
    const coded = vectors.coder.query(vector);
    if (maxDistance !== undefined && most !== undefined) {
      let compared = 0;
      vectors.within(coded, rows, maxDistance + 1e-3, (row, low, likely, high) => {
        compared++;
        if (low <= most + 1e-5) found.add(row, low, likely, high);
      });
      return found.all(compared);
    }
    if (matches <= query.exactRows) {
      vectors.compare(coded, rowsOf(rows, matches), (row, low, likely, high) => found.add(row, low, likely, high));
      return found.nearestByBounds(query.wanted, matches);
    }
    const near = nearBySigns(vectors, coded, rows, this.#rows.count, query);
    vectors.compare(coded, near, (row, low, likely, high) => found.add(row, low, likely, high));
    return near.length === matches
      ? found.nearestByBounds(query.wanted, matches)
      : found.nearestByEstimate(query.wanted);
  }

  /** Removes rows that no commit from now on sees; earlier commits cannot be searched any more. */
  #removeDead(): void {
    const rows = this.#rows.liveRows();
    for (const [module, vectors] of this.#vectors) this.#vectors.set(module, keptOf(vectors, rows));
    for (const [filter, bits] of this.#filters) {
      const kept = createBits(rows.length);
      for (const [row, other] of rows.entries()) if (hasBit(bits, other)) setBit(kept, row);
      this.#filters.set(filter, kept);
    }
    this.#rows.keep(rows);
    this.#oldest = this.#commit;
  }
}

/** Grows to the largest collection of the thread. */
let distances = new Uint16Array(0);

/**
 * The rows whose signs are nearest to those of a query. Signs tell the distance of a row with an error: all are taken
 * whose signs are within some deviations of those of the last one wanted, so that queries around which many rows crowd
 * compare more of them.
 */
function nearBySigns(codes: Codes, coded: CodedQuery, rows: Bits, count: number, query: VectorQuery): Uint32Array {
  const { bits } = codes.coder;
  if (distances.length < count) distances = new Uint16Array(Math.ceil(count * 1.2));
  const histogram = new Uint32Array(bits + 1);
  distances.fill(LEFT_OUT, 0, count);
  codes.hamming(coded, rows, distances, histogram);
  const reach = (wanted: number) => {
    let sum = 0;
    for (let distance = 0; distance <= bits; distance++) {
      sum += histogram[distance] as number;
      if (sum >= wanted) return distance;
    }
    return bits;
  };
  const last = reach(query.wanted);
  const share = last / bits;
  const deviation = Math.sqrt(bits * share * (1 - share));
  const widest = reach(CROWD * query.leastCompared);
  const bound = Math.max(reach(query.leastCompared), Math.min(widest, Math.ceil(last + DEVIATIONS * deviation)));
  let total = 0;
  for (let distance = 0; distance <= bound; distance++) total += histogram[distance] as number;
  const near = new Uint32Array(total);
  let at = 0;
  for (let row = 0; row < count; row++) if ((distances[row] as number) <= bound) near[at++] = row;
  return near;
}

function rowsOf(bits: Bits, count: number): Uint32Array {
  const rows = new Uint32Array(count);
  let at = 0;
  forEachBit(bits, (row) => {
    rows[at++] = row;
  });
  return rows;
}

function codesOf(floats: Floats, coder: Coder): Codes {
  const codes = new Codes(coder);
  forEachBit(floats.described, (row) => codes.set(row, floats.get(row)));
  return codes;
}

function keptOf(vectors: Floats | Codes, rows: Uint32Array): Floats | Codes {
  if (vectors instanceof Codes) return vectors.kept(rows);
  const kept = new Floats(vectors.dimensions);
  for (const [row, other] of rows.entries()) if (hasBit(vectors.described, other)) kept.set(row, vectors.get(other));
  return kept;
}

/** Rows with what is known of their distances. */
class Found {
  readonly #table: RowTable;
  readonly #matches: number;
  readonly #rows: number[] = [];
  readonly #low: number[] = [];
  readonly #likely: number[] = [];
  readonly #high: number[] = [];

  constructor(table: RowTable, matches: number) {
    this.#table = table;
    this.#matches = matches;
  }

  add(row: number, low: number, likely: number, high: number): void {
    this.#rows.push(row);
    this.#low.push(low);
    this.#likely.push(likely);
    this.#high.push(high);
  }

  all(compared: number): Candidates {
    return this.#hand(Array.from(this.#rows.keys()), compared, true);
  }

  /** All that may be among the nearest. */
  nearestByBounds(wanted: number, compared: number): Candidates {
    const bound = nth(this.#high, wanted);
    return this.#hand(indexesWhere(this.#low, bound), compared, true);
  }

  /** The likeliest, and all that are as likely as the last of them. */
  nearestByEstimate(wanted: number): Candidates {
    const bound = nth(this.#likely, Math.max(LEAST_HANDED_ON, wanted + SPARE, Math.ceil(1.2 * wanted)));
    return this.#hand(indexesWhere(this.#likely, bound), this.#rows.length, false);
  }

  #hand(indexes: readonly number[], compared: number, isExact: boolean): Candidates {
    return {
      matches: this.#matches,
      isExact,
      compared,
      docs: Float64Array.from(indexes, (i) => this.#table.docOf(this.#rows[i] as number)),
      low: Float32Array.from(indexes, (i) => this.#low[i] as number),
      likely: Float32Array.from(indexes, (i) => this.#likely[i] as number),
      high: Float32Array.from(indexes, (i) => this.#high[i] as number),
    };
  }
}

function indexesWhere(numbers: readonly number[], most: number): number[] {
  const indexes: number[] = [];
  for (let i = 0; i < numbers.length; i++) if ((numbers[i] as number) <= most) indexes.push(i);
  return indexes;
}
