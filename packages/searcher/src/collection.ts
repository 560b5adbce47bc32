import {
  type Bits,
  countBits,
  createBits,
  exclude,
  forEachBit,
  grownBits,
  hasBit,
  intersect,
  rowsOf,
  setBit,
} from './bits.ts';
import { CandidateCollector } from './candidate-collector.ts';
import { Cells } from './cells.ts';
import { CodeTable, codesBytes } from './code-table.ts';
import { Coder, codeSizes } from './codes.ts';
import { type DocNumbers, type DocSet, forEachIn } from './doc-set.ts';
import { DocValues } from './doc-values.ts';
import { FloatVectors, floatsBytes } from './floats.ts';
import { findHeads, KeyPlaces } from './heads.ts';
import { findPairs, type NearPairs, type PairsQuery } from './pairs.ts';
import { mirrored, readPoints } from './points/point-format.ts';
import { mirroredWords, PointTable, wordsOf } from './points/point-table.ts';
import {
  type CountQuery,
  candidateCount,
  type Distinct,
  type HeadsQuery,
  PART_CANDIDATES,
  type PartCandidates,
  type PartHeads,
  type PointCandidate,
  type PointQuery,
  type Restriction,
  type VectorQuery,
} from './query.ts';
import { RowGroups } from './row-groups.ts';
import { RowTable } from './row-table.ts';
import { scanNear } from './scan-near.ts';

/** Dead rows are removed when there are at least this many, and when they reach this share of all rows. */
const MIN_DEAD = 1_000;
const DEAD_SHARE = 0.25;

/** The rows of one collection in one thread, with their codes and filters. No I/O, and nothing asynchronous. */
export class SearchedCollection {
  readonly #exactRows: number;
  readonly #rows = new RowTable();
  readonly #vectors = new Map<string, FloatVectors | CodeTable>();
  readonly #points = new Map<string, PointTable>();
  readonly #filters = new Map<number, Bits>();
  readonly #columns = new Map<number, DocValues>();
  /** Undefined until rows are assigned to cells, and after the removal of rows that had a cell. */
  #cells: Cells | undefined;
  /** The last commit whose changes are loaded, and the first commit that can still be searched. */
  #commit = 0;
  #oldest = 0;
  /** Whether changes of the next commit are already loaded. */
  #isAhead = false;

  /** @param exactRows collections with up to this many rows keep full vectors */
  constructor(exactRows: number) {
    this.#exactRows = exactRows;
  }

  get bytes(): number {
    let bytes = this.#rows.bytes;
    for (const vectors of this.#vectors.values()) bytes += vectors.bytes;
    for (const points of this.#points.values()) bytes += points.bytes;
    for (const bits of this.#filters.values()) bytes += bits.byteLength;
    for (const values of this.#columns.values()) bytes += values.bytes;
    return bytes + (this.#cells?.bytes ?? 0);
  }

  /**
   * Maximum bytes of rows with vectors of one module, without filters.
   * @param dimensions the dimensions of the vectors; 0 for a module with points; undefined: rows alone
   */
  static bytesFor(rows: number, dimensions: number | undefined, exactRows: number): number {
    if (dimensions === undefined) return RowTable.bytesFor(rows);
    if (dimensions === 0) return RowTable.bytesFor(rows) + PointTable.bytesFor(rows);
    const isExact = rows <= 2 * exactRows;
    const vectors = isExact ? floatsBytes(dimensions, rows) : codesBytes(codeSizes(dimensions), rows);
    return RowTable.bytesFor(rows) + vectors;
  }

  addRow(doc: number, from: number): void {
    this.#isAhead = true;
    this.#rows.add(doc, from);
  }

  expireRow(doc: number, to: number): void {
    this.#isAhead = true;
    this.#rows.expire(doc, to);
  }

  /** Ignored if the document is not in this collection. */
  setVector(module: string, doc: number, vector: Float32Array): void {
    const row = this.#rows.rowOf(doc);
    if (row < 0) return;
    let vectors = this.#vectors.get(module);
    if (vectors === undefined) {
      vectors = new FloatVectors(vector.length);
      this.#vectors.set(module, vectors);
    }
    // Codes replace full vectors at twice `exactRows`, so that dead rows do not slow down exact comparisons.
    if (vectors instanceof FloatVectors && row >= 2 * this.#exactRows) {
      vectors = codesOf(vectors, new Coder(vector.length));
      this.#vectors.set(module, vectors);
    }
    vectors.set(row, vector);
  }

  /** Ignored if the document is not in this collection. */
  setPoints(module: string, doc: number, bytes: Uint8Array): void {
    const row = this.#rows.rowOf(doc);
    if (row < 0) return;
    const points = this.#points.get(module) ?? new PointTable();
    this.#points.set(module, points);
    points.set(row, bytes);
  }

  /** Adds documents to those that match a filter. Ignores documents that are not in this collection. */
  extendFilter(filter: number, docs: DocNumbers | DocSet): void {
    const bits = grownBits(this.#filters.get(filter) ?? createBits(this.#rows.count), this.#rows.count);
    if ('pages' in docs) {
      forEachIn(docs, this.#rows.docs, (row) => setBit(bits, row));
    } else {
      for (const doc of docs) {
        const row = this.#rows.rowOf(doc);
        if (row >= 0) setBit(bits, row);
      }
    }
    this.#filters.set(filter, bits);
  }

  dropFilter(filter: number): void {
    this.#filters.delete(filter);
  }

  /**
   * Stores a document's value of a column, as the ordinal of the value. Ignores a document that is not in this
   * collection.
   */
  setValue(column: number, doc: number, ordinal: number): void {
    const row = this.#rows.rowOf(doc);
    if (row < 0) return;
    let values = this.#columns.get(column);
    if (values === undefined) {
      values = new DocValues();
      this.#columns.set(column, values);
    }
    values.set(row, ordinal, this.#rows.count);
  }

  dropValues(column: number): void {
    this.#columns.delete(column);
  }

  /** Adds to a filter the rows with one of the wanted values of a column. @param wanted 1 or 0 for each ordinal */
  extendByValues(filter: number, column: number, wanted: Uint8Array): void {
    const bits = grownBits(this.#filters.get(filter) ?? createBits(this.#rows.count), this.#rows.count);
    // It is possible that no document of this thread has a value.
    this.#columns.get(column)?.select(wanted, bits);
    this.#filters.set(filter, bits);
  }

  /** Starts to assign rows to cells: all cells are empty. */
  beginCells(): void {
    this.#cells = new Cells();
  }

  /** @returns false if the document, or its vector, is not in this collection, or `beginCells` was not called */
  assignCell(module: string, doc: number, cell: number): boolean {
    const [row, vectors] = [this.#rows.rowOf(doc), this.#vectors.get(module)];
    if (row < 0 || this.#cells === undefined || !vectors || !hasBit(vectors.rowsWithVector, row)) return false;
    this.#cells.assign(row, cell);
    return true;
  }

  /** All changes up to a commit are loaded. */
  advance(commit: number): void {
    this.#commit = commit;
    this.#isAhead = false;
    if (this.#oldest === 0) this.#oldest = commit;
    const { dead, count } = this.#rows;
    if (dead >= MIN_DEAD && dead > DEAD_SHARE * count) this.#removeDead();
  }

  /**
   * Makes clusters of the codes that searches scan. It pauses often: the caller may change the collection, and continue
   * later.
   * @returns undefined if there is nothing to do
   */
  clustering(): Generator<undefined, void> | undefined {
    for (const [module, vectors] of this.#vectors) {
      if (vectors instanceof CodeTable && vectors.needsClusters) return this.#cluster(module, vectors);
    }
    return undefined;
  }

  *#cluster(module: string, codes: CodeTable): Generator<undefined, void> {
    for (const pause of codes.cluster()) {
      // Codes were replaced when rows were removed.
      if (this.#vectors.get(module) !== codes) return;
      yield pause;
    }
  }

  /**
   * @returns undefined if the commit can no longer be searched
   * @throws Error if the commit is not loaded yet, or a filter is not loaded
   */
  search(query: VectorQuery): PartCandidates | undefined {
    const vectors = this.#vectors.get(query.module);
    const rows = this.#visibleRows(query);
    if (rows === undefined) return undefined;
    this.#restrict(rows, query);
    const { maxDistance, vector, k, distinct } = query;
    const groups = distinct && this.#groupsBy(distinct);
    groups?.restrict(rows);
    const matches = countBits(rows);
    const { maxCandidates } = query;
    const collector = { table: this.#rows, matches, max: maxCandidates, groups, found: groups?.found(rows) };
    const within = new CandidateCollector(collector);
    if (matches === 0 || vectors === undefined) return within.candidates(0, true);
    const nearest = new CandidateCollector({ ...collector, wanted: k });
    const max = maxDistance === undefined ? undefined : maxDistance ** 2;
    if (vectors instanceof FloatVectors) {
      vectors.compare(vector, rows, (row, low, estimate, high) => {
        if (max === undefined) nearest.add(row, low, estimate, high);
        else if (low <= max + 1e-6) within.add(row, low, estimate, high);
      });
      return (max === undefined ? nearest : within).candidates(matches, true);
    }
    const coded = vectors.coder.query(vector);
    if (maxDistance !== undefined && max !== undefined) {
      const some = matches === vectors.count ? undefined : rows;
      const compared = vectors.compareWithin(coded, some, maxDistance + 1e-3, (row, low, estimate, high) => {
        if (low <= max + 1e-5) within.add(row, low, estimate, high);
      });
      return within.candidates(compared, true);
    }
    if (matches <= query.exactRows) {
      vectors.compare(
        coded,
        rowsOf(rows, matches),
        (row, low, estimate, high) => nearest.add(row, low, estimate, high),
        nearest,
      );
      return nearest.candidates(matches, true);
    }
    const best = new CandidateCollector({
      ...collector,
      wanted: candidateCount(k),
      by: 'estimate',
      dimensions: vector.length,
    });
    const compared = scanNear(vectors, coded, rows, matches, query, best);
    return best.candidates(compared, false);
  }

  /** Finds the first row of each group. Returns and throws as {@link search}. */
  heads(query: HeadsQuery): PartHeads | undefined {
    const rows = this.#visibleRows(query);
    if (rows === undefined) return undefined;
    this.#restrict(rows, query);
    const groups = this.#groupsBy(query.distinct);
    const keys = query.keys.map((key) => new KeyPlaces(this.#columns.get(key.column), key));
    return findHeads(rows, groups, keys, query.deciding, (row) => this.#rows.docOf(row));
  }

  /** Finds rows that may have a part in common with a picture. Returns and throws as {@link search}. */
  findParts(query: PointQuery): PointCandidate[] | undefined {
    const rows = this.#visibleRows(query);
    if (rows === undefined) return undefined;
    this.#restrict(rows, query);
    const [table, points] = [this.#points.get(query.module), readPoints(query.points)];
    if (table === undefined || points === undefined) return [];
    const words = wordsOf(points);
    return [points, mirrored(points)].flatMap((set, i) =>
      table.search(set, rows, PART_CANDIDATES, i === 0 ? words : mirroredWords(words)).map(({ row, support }) => ({
        doc: this.#rows.docs[row] as number,
        isMirrored: i === 1,
        support,
      })),
    );
  }

  /** Returns and throws as {@link search}. */
  count(query: CountQuery): number[] | undefined {
    const rows = this.#visibleRows(query);
    return (
      rows &&
      query.restrictions.map((restriction) => {
        const counted = rows.slice();
        this.#restrict(counted, restriction);
        return countBits(counted);
      })
    );
  }

  /** Finds the rows near each of some vectors. @returns undefined if no cells are loaded */
  pairs(query: PairsQuery): NearPairs | undefined {
    const vectors = this.#vectors.get(query.module);
    if (this.#cells === undefined) return undefined;
    // It is possible that no document of this thread has a vector of the module.
    if (vectors === undefined) return { isOverLimit: false, queries: new Int32Array(0), docs: new Float64Array(0) };
    return findPairs(this.#rows, vectors, this.#cells, query);
  }

  #groupsBy({ column, missing }: Distinct): RowGroups {
    return new RowGroups(this.#columns.get(column), missing, this.#rows);
  }

  /** The rows that a commit sees, and that have a vector of a module if one is given; valid until the next call. */
  #visibleRows({ commit, module }: Pick<HeadsQuery, 'commit' | 'module'>): Bits | undefined {
    if (commit < this.#oldest) return undefined;
    if (commit > this.#commit) throw new Error(`commit ${commit} is not in memory`);
    const rows = this.#rows.visibleAt(commit, commit === this.#commit && !this.#isAhead);
    if (module === undefined) return rows;
    const held = this.#vectors.get(module) ?? this.#points.get(module);
    intersect(rows, held?.rowsWithVector ?? createBits(0));
    return rows;
  }

  #restrict(rows: Bits, { filters, excluded = [] }: Restriction): void {
    for (const filter of filters) intersect(rows, this.#matching(filter));
    for (const filter of excluded) exclude(rows, this.#matching(filter));
  }

  #matching(filter: number): Bits {
    const bits = this.#filters.get(filter);
    if (bits === undefined) throw new Error(`filter ${filter} is not in memory`);
    return bits;
  }

  /** Removes the rows that the current commit does not see. Earlier commits can no longer be searched. */
  #removeDead(): void {
    const rows = this.#rows.liveRows();
    for (const [module, vectors] of this.#vectors) this.#vectors.set(module, copyOfRows(vectors, rows));
    for (const [module, points] of this.#points) this.#points.set(module, points.copyOf(rows));
    for (const [filter, bits] of this.#filters) {
      const kept = createBits(rows.length);
      for (const [row, other] of rows.entries()) if (hasBit(bits, other)) setBit(kept, row);
      this.#filters.set(filter, kept);
    }
    for (const [column, values] of this.#columns) this.#columns.set(column, values.copyOf(rows));
    this.#rows.retain(rows);
    this.#cells = undefined;
    this.#oldest = this.#commit;
  }
}

function codesOf(floats: FloatVectors, coder: Coder): CodeTable {
  const codes = new CodeTable(coder);
  forEachBit(floats.rowsWithVector, (row) => codes.set(row, floats.get(row)));
  return codes;
}

function copyOfRows(vectors: FloatVectors | CodeTable, rows: Uint32Array): FloatVectors | CodeTable {
  if (vectors instanceof CodeTable) return vectors.copyOf(rows);
  const kept = new FloatVectors(vectors.dimensions);
  for (const [row, other] of rows.entries())
    if (hasBit(vectors.rowsWithVector, other)) kept.set(row, vectors.get(other));
  return kept;
}
