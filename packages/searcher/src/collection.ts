import {
  type Bits,
  countBits,
  createBits,
  exclude,
  forEachBit,
  hasBit,
  intersect,
  rowsOf,
  setBit,
  withRoom,
} from './bits.ts';
import { Cells } from './cells.ts';
import { type CodedQuery, Coder, codeSizes } from './codes.ts';
import { nth } from './nth.ts';
import { findPairs, type Pairs, type PairsQuery } from './pairs.ts';
import { LEFT_OUT } from './plain-kernel.ts';
import { RowTable } from './row-table.ts';
import { Codes, codesBytes, Floats, floatsBytes } from './vectors.ts';

/** A search among the rows that a commit sees. */
export interface VectorQuery {
  readonly commit: number;
  readonly module: string;
  /** Rows must have all of them. */
  readonly filters: readonly number[];
  /** Rows must have none of them. */
  readonly excluded?: readonly number[] | undefined;
  readonly vector: Float32Array;
  /** How many are wanted; ignored where `maxDistance` is given, which wants all within. */
  readonly wanted: number;
  readonly maxDistance?: number | undefined;
  /** Up to so many matches are compared by bounds, so that nothing can be missed; all are when Infinity. */
  readonly exactRows: number;
  /** More candidates are of no use. */
  readonly mostCandidates: number;
  /** Otherwise so many are compared by levels, and up to 20 times as many where they crowd around the query. */
  readonly leastCompared: number;
}

/** Counts of the rows that a commit sees, with a vector of a module: for each list of filters, those that have all of them. */
export interface CountQuery {
  readonly commit: number;
  readonly module: string;
  readonly filters: readonly (readonly number[])[];
  /** Rows must have none of them. */
  readonly excluded?: readonly number[] | undefined;
}

/** Documents among which the answer is, for exact distances to tell. */
export interface Candidates {
  /** How many rows match the filters and have a vector of the module. */
  readonly matches: number;
  /** Whether the answer cannot be elsewhere. */
  readonly isExact: boolean;
  /** How many vectors were compared. */
  readonly compared: number;
  /** Whether they are more than were asked for; then none are told. */
  readonly areTooMany: boolean;
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
/** Rows that are held before those that are too far are forgotten. */
const LEAST_ROOM = 1_024;
/** Dead rows are removed when they are so many, and so large a share of all. */
const MANY_DEAD = 1_000;
const DEAD_SHARE = 0.25;

/** The rows of one collection, its codes and filters, in one thread. No I/O, and nothing asynchronous. */
export class SearchedCollection {
  readonly #exactRows: number;
  readonly #rows = new RowTable();
  readonly #vectors = new Map<string, Floats | Codes>();
  readonly #filters = new Map<number, Bits>();
  /** Undefined until rows are placed, and where some that were placed are gone. */
  #cells: Cells | undefined;
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
    return bytes + (this.#cells?.bytes ?? 0);
  }

  /**
   * What rows with vectors of one module take at most, filters apart.
   * @param dimensions numbers of a vector
   */
  static bytesFor(rows: number, dimensions: number, exactRows: number): number {
    const isExact = rows <= 2 * exactRows;
    const vectors = isExact ? floatsBytes(dimensions, rows) : codesBytes(codeSizes(dimensions), rows);
    return RowTable.bytesFor(rows) + vectors;
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

  /** Adds a row that no commit sees, for {@link pairs}; one that is here stays as it is. */
  addGone(module: string, doc: number, vector: Float32Array): void {
    if (this.#rows.rowOf(doc) >= 0) return;
    this.#rows.add(doc, 0);
    this.#rows.end(doc, 0);
    this.setVector(module, doc, vector);
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

  /** Begins to place rows in cells: none is in any yet. */
  beginCells(): void {
    this.#cells = new Cells();
  }

  /** Places a document in a cell. @returns false where it is not here, or placing was not begun */
  place(doc: number, cell: number): boolean {
    const row = this.#rows.rowOf(doc);
    if (row < 0 || this.#cells === undefined) return false;
    this.#cells.place(row, cell);
    return true;
  }

  /** All changes up to a commit are here. */
  advance(commit: number): void {
    this.#commit = commit;
    this.#isAhead = false;
    if (this.#oldest === 0) this.#oldest = commit;
    const { dead, count } = this.#rows;
    if (dead >= MANY_DEAD && dead > DEAD_SHARE * count) this.#removeDead();
  }

  /**
   * @returns undefined where the commit cannot be searched any more
   * @throws Error where it cannot be yet, or a filter is not here
   */
  search(query: VectorQuery): Candidates | undefined {
    const { module, filters } = query;
    const vectors = this.#vectors.get(module);
    const rows = this.#described(query);
    if (rows === undefined) return undefined;
    for (const filter of filters) intersect(rows, this.#matching(filter));
    const matches = countBits(rows);
    const { maxDistance, vector, wanted } = query;
    const { mostCandidates } = query;
    const within = new Found(this.#rows, matches, mostCandidates);
    if (matches === 0 || vectors === undefined) return within.candidates(0, true);
    const nearest = new Found(this.#rows, matches, mostCandidates, wanted);
    const most = maxDistance === undefined ? undefined : maxDistance ** 2;
    if (vectors instanceof Floats) {
      vectors.compare(vector, rows, (row, low, likely, high) => {
        if (most === undefined) nearest.add(row, low, likely, high);
        else if (low <= most + 1e-6) within.add(row, low, likely, high);
      });
      return (most === undefined ? nearest : within).candidates(matches, true);
    }
    const coded = vectors.coder.query(vector);
    if (maxDistance !== undefined && most !== undefined) {
      let compared = 0;
      vectors.within(coded, rows, maxDistance + 1e-3, (row, low, likely, high) => {
        compared++;
        if (low <= most + 1e-5) within.add(row, low, likely, high);
      });
      return within.candidates(compared, true);
    }
    if (matches <= query.exactRows) {
      vectors.compare(coded, rowsOf(rows, matches), (row, low, likely, high) => nearest.add(row, low, likely, high));
      return nearest.candidates(matches, true);
    }
    const near = nearBySigns(vectors, coded, rows, this.#rows.count, query);
    const isExact = near.length === matches;
    const handedOn = Math.max(LEAST_HANDED_ON, wanted + SPARE, Math.ceil(1.2 * wanted));
    const best = isExact ? nearest : new Found(this.#rows, matches, mostCandidates, handedOn, 'likely');
    vectors.compare(coded, near, (row, low, likely, high) => best.add(row, low, likely, high));
    return best.candidates(near.length, isExact);
  }

  /**
   * @returns undefined where the commit cannot be searched any more
   * @throws Error where it cannot be yet, or a filter is not here
   */
  count(query: CountQuery): number[] | undefined {
    const rows = this.#described(query);
    return (
      rows &&
      query.filters.map((filters) => {
        const counted = rows.slice();
        for (const filter of filters) intersect(counted, this.#matching(filter));
        return countBits(counted);
      })
    );
  }

  /** Finds the rows near each of some vectors. @returns undefined where the cells are not here */
  pairs(query: PairsQuery): Pairs | undefined {
    const vectors = this.#vectors.get(query.module);
    if (this.#cells === undefined) return undefined;
    // A thread may have no document of the module.
    if (vectors === undefined)
      return { areTooMany: false, compared: 0, queries: new Int32Array(0), docs: new Float64Array(0) };
    return findPairs(this.#rows, vectors, this.#cells, query);
  }

  /** The rows with a vector that a commit sees, but for those that are excluded, as bits of one's own. */
  #described({ commit, module, excluded = [] }: Pick<VectorQuery, 'commit' | 'module' | 'excluded'>): Bits | undefined {
    if (commit < this.#oldest) return undefined;
    if (commit > this.#commit) throw new Error(`commit ${commit} is not in memory`);
    const rows = this.#rows.seenBy(commit, commit === this.#commit && !this.#isAhead);
    intersect(rows, this.#vectors.get(module)?.described ?? createBits(0));
    for (const filter of excluded) exclude(rows, this.#matching(filter));
    return rows;
  }

  #matching(filter: number): Bits {
    const bits = this.#filters.get(filter);
    if (bits === undefined) throw new Error(`filter ${filter} is not in memory`);
    return bits;
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
    this.#cells = undefined;
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
  // The kernel writes whole words of the mask.
  const room = Math.ceil(count / 32) * 32;
  if (distances.length < room) distances = new Uint16Array(Math.ceil((room * 1.2) / 32) * 32);
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
  const far = Math.min(widest, Math.ceil(last + DEVIATIONS * deviation));
  const bound = Math.max(last, reach(query.leastCompared), far);
  let total = 0;
  for (let distance = 0; distance <= bound; distance++) total += histogram[distance] as number;
  const near = new Uint32Array(total);
  let at = 0;
  for (let row = 0; row < count; row++) if ((distances[row] as number) <= bound) near[at++] = row;
  return near;
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

/** Rows with what is known of their distances: all that are added, or those that may be among the nearest. */
class Found {
  readonly #table: RowTable;
  readonly #matches: number;
  /** How many are wanted, and by which numbers a row is known to be none of them. */
  readonly #wanted: number;
  readonly #by: 'high' | 'likely';
  readonly #most: number;
  #rows: number[] = [];
  #low: number[] = [];
  #likely: number[] = [];
  #high: number[] = [];
  #bound = Number.POSITIVE_INFINITY;
  #room: number;

  constructor(
    table: RowTable,
    matches: number,
    most: number,
    wanted = Number.POSITIVE_INFINITY,
    by: 'high' | 'likely' = 'high',
  ) {
    this.#most = most;
    this.#table = table;
    this.#matches = matches;
    this.#wanted = wanted;
    this.#by = by;
    this.#room = Math.max(LEAST_ROOM, 4 * wanted);
  }

  add(row: number, low: number, likely: number, high: number): void {
    if ((this.#by === 'high' ? low : likely) > this.#bound) return;
    // One more tells that there are too many.
    if (this.#wanted === Number.POSITIVE_INFINITY && this.#rows.length > this.#most) return;
    this.#rows.push(row);
    this.#low.push(low);
    this.#likely.push(likely);
    this.#high.push(high);
    if (this.#rows.length >= this.#room) this.#prune();
  }

  /** What was found. With bounds, nothing else can be among the nearest; with estimates, they are the likeliest. */
  candidates(compared: number, isExact: boolean): Candidates {
    if (this.#wanted < Number.POSITIVE_INFINITY) this.#prune();
    const areTooMany = this.#rows.length > this.#most;
    if (areTooMany) [this.#rows, this.#low, this.#likely, this.#high] = [[], [], [], []];
    return {
      matches: this.#matches,
      isExact,
      compared,
      areTooMany,
      docs: Float64Array.from(this.#rows, (row) => this.#table.docOf(row)),
      low: Float32Array.from(this.#low),
      likely: Float32Array.from(this.#likely),
      high: Float32Array.from(this.#high),
    };
  }

  /** Forgets rows that cannot be among the nearest, those as near as the last of them excepted. */
  #prune(): void {
    this.#bound = Math.min(this.#bound, nth(this.#by === 'high' ? this.#high : this.#likely, this.#wanted));
    const kept = indexesWhere(this.#by === 'high' ? this.#low : this.#likely, this.#bound);
    const pick = (numbers: readonly number[]) => kept.map((i) => numbers[i] as number);
    [this.#rows, this.#low, this.#likely, this.#high] = [this.#rows, this.#low, this.#likely, this.#high].map(pick) as [
      number[],
      number[],
      number[],
      number[],
    ];
    this.#room = Math.max(this.#room, 2 * kept.length);
  }
}

function indexesWhere(numbers: readonly number[], most: number): number[] {
  const indexes: number[] = [];
  for (let i = 0; i < numbers.length; i++) if ((numbers[i] as number) <= most) indexes.push(i);
  return indexes;
}
