import { nthSmallest } from './nth-smallest.ts';
import type { Candidates } from './query.ts';
import type { RowTable } from './row-table.ts';

/** Minimum number of rows kept before rows that are too far are dropped. */
const MIN_CAPACITY = 256;

/** Collects rows with the bounds of their distances: all added rows, or only those that can be among the nearest. */
export class CandidateCollector {
  readonly #table: RowTable;
  readonly #matches: number;
  /** How many rows are wanted, and the numbers by which a row is excluded. */
  readonly #wanted: number;
  readonly boundKind: 'low' | 'estimate';
  readonly #max: number;
  #rows: number[] = [];
  #low: number[] = [];
  #estimate: number[] = [];
  #high: number[] = [];
  /** Rows beyond this bound are not among the nearest. The bound only decreases. */
  bound = Number.POSITIVE_INFINITY;
  #capacity: number;

  constructor(
    table: RowTable,
    matches: number,
    max: number,
    wanted = Number.POSITIVE_INFINITY,
    by: 'low' | 'estimate' = 'low',
  ) {
    this.#max = max;
    this.#table = table;
    this.#matches = matches;
    this.#wanted = wanted;
    this.boundKind = by;
    this.#capacity = Math.max(MIN_CAPACITY, 4 * wanted);
  }

  add(row: number, low: number, estimate: number, high: number): void {
    if ((this.boundKind === 'low' ? low : estimate) > this.bound) return;
    // One row more than the maximum is enough to know that there are too many.
    if (this.#wanted === Number.POSITIVE_INFINITY && this.#rows.length > this.#max) return;
    this.#rows.push(row);
    this.#low.push(low);
    this.#estimate.push(estimate);
    this.#high.push(high);
    if (this.#rows.length >= this.#capacity) this.#prune();
  }

  /** The estimate of the squared distance of the n-th nearest row; Infinity if there are no more than n. */
  estimateAt(n: number): number {
    return nthSmallest(this.#estimate, n);
  }

  /**
   * The collected rows. With bounds, no other row can be among the nearest; with estimates, they are the most likely
   * ones.
   */
  candidates(compared: number, isExact: boolean): Candidates {
    if (this.#wanted < Number.POSITIVE_INFINITY) this.#prune();
    const isOverLimit = this.#rows.length > this.#max;
    if (isOverLimit) [this.#rows, this.#low, this.#estimate, this.#high] = [[], [], [], []];
    return {
      matches: this.#matches,
      isExact,
      compared,
      isOverLimit,
      docs: Float64Array.from(this.#rows, (row) => this.#table.docOf(row)),
      low: Float32Array.from(this.#low),
      estimate: Float32Array.from(this.#estimate),
      high: Float32Array.from(this.#high),
    };
  }

  /** Drops rows that cannot be among the nearest. Rows as near as the last one of these stay. */
  #prune(): void {
    this.bound = Math.min(
      this.bound,
      nthSmallest(this.boundKind === 'low' ? this.#high : this.#estimate, this.#wanted),
    );
    const kept = indexesWhere(this.boundKind === 'low' ? this.#low : this.#estimate, this.bound);
    const pick = (numbers: readonly number[]) => kept.map((i) => numbers[i] as number);
    [this.#rows, this.#low, this.#estimate, this.#high] = [this.#rows, this.#low, this.#estimate, this.#high].map(
      pick,
    ) as [number[], number[], number[], number[]];
    this.#capacity = Math.max(this.#capacity, 2 * kept.length);
  }
}

function indexesWhere(numbers: readonly number[], max: number): number[] {
  const indexes: number[] = [];
  for (let i = 0; i < numbers.length; i++) if ((numbers[i] as number) <= max) indexes.push(i);
  return indexes;
}
