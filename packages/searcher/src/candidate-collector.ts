import { nthSmallest } from './nth-smallest.ts';
import type { FoundGroups, PartCandidates } from './query.ts';
import { leastOfGroups, type RowGroups } from './row-groups.ts';
import type { RowTable } from './row-table.ts';

/** Minimum number of rows kept before rows that are too far are dropped. */
const MIN_CAPACITY = 256;

/** An estimate by levels is trusted within this many standard deviations. */
export const ESTIMATE_DEVIATIONS = 4;

interface CollectorOptions {
  readonly table: RowTable;
  readonly matches: number;
  /** Maximum number of candidates. */
  readonly max: number;
  /** Given if only the nearest row of each group is wanted. */
  readonly groups: RowGroups | undefined;
  /** The groups that match. */
  readonly found: FoundGroups | undefined;
  /** How many rows, or groups, are wanted. Default: all. */
  readonly wanted?: number;
  /** The number by which a row is excluded. */
  readonly by?: 'low' | 'estimate';
  /** Of the vectors, for estimates. */
  readonly dimensions?: number;
}

/** Collects rows with the bounds of their distances: all added rows, or only those that can be among the nearest. */
export class CandidateCollector {
  readonly #table: RowTable;
  readonly #matches: number;
  readonly #groups: RowGroups | undefined;
  readonly #found: FoundGroups | undefined;
  readonly #dimensions: number;
  /** How many rows are wanted, and the numbers by which a row is excluded. */
  readonly #wanted: number;
  readonly boundKind: 'low' | 'estimate';
  readonly #max: number;
  #rows: number[] = [];
  #low: number[] = [];
  #estimate: number[] = [];
  #high: number[] = [];
  #groupOf: number[] = [];
  /** For each group that may be among the nearest: the upper bound, or the estimate, of its nearest row. */
  readonly #leastOf = new Map<number, number>();
  /** Rows beyond this bound are not among the nearest. The bound only decreases. */
  bound = Number.POSITIVE_INFINITY;
  #capacity: number;

  constructor({
    table,
    matches,
    max,
    groups,
    found,
    wanted = Number.POSITIVE_INFINITY,
    by = 'low',
    dimensions = 1,
  }: CollectorOptions) {
    this.#max = max;
    this.#table = table;
    this.#matches = matches;
    this.#groups = groups;
    this.#found = found;
    this.#dimensions = dimensions;
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
    if (this.#groups !== undefined) {
      const group = this.#groups.of(row);
      this.#groupOf.push(group);
      const number = this.boundKind === 'low' ? high : estimate;
      if (number < (this.#leastOf.get(group) ?? Number.POSITIVE_INFINITY)) this.#leastOf.set(group, number);
    }
    if (this.#rows.length >= this.#capacity) this.#prune();
  }

  /** The estimate of the squared distance of the n-th nearest row, or group; Infinity if there are no more than n. */
  estimateAt(n: number): number {
    return nthSmallest(this.#groups ? [...this.#leastOf.values()] : this.#estimate, n);
  }

  /**
   * The collected rows. With bounds, no other row can be among the nearest; with estimates, they are the most likely
   * ones.
   */
  candidates(compared: number, isExact: boolean): PartCandidates {
    if (this.#wanted < Number.POSITIVE_INFINITY) this.#prune();
    const isOverLimit = this.#rows.length > this.#max;
    if (isOverLimit) this.#keep([]);
    return {
      matches: this.#matches,
      isExact,
      compared,
      isOverLimit,
      docs: Float64Array.from(this.#rows, (row) => this.#table.docOf(row)),
      low: Float32Array.from(this.#low),
      estimate: Float32Array.from(this.#estimate),
      high: Float32Array.from(this.#high),
      ...(this.#found && { groups: Float64Array.from(this.#groupOf), found: this.#found }),
    };
  }

  /** Drops rows that cannot be among the nearest, or the nearest of their group. Rows as near as the last one stay. */
  #prune(): void {
    const [by, greatest] = this.boundKind === 'low' ? [this.#low, this.#high] : [this.#estimate, this.#estimate];
    const groups = this.#groups && this.#groupOf;
    this.bound = Math.min(this.bound, nthSmallest(groups ? [...this.#leastOf.values()] : greatest, this.#wanted));
    for (const [group, least] of this.#leastOf) if (least > this.bound) this.#leastOf.delete(group);
    const kept = indexesUpTo(by, this.bound);
    this.#keep(groups === undefined ? kept : this.#nearestOfGroups(kept, groups));
    this.#capacity = Math.max(this.#capacity, 2 * this.#rows.length);
  }

  #nearestOfGroups(kept: readonly number[], groups: readonly number[]): number[] {
    const slack = this.boundKind === 'low' ? 1 : estimateSlack(this.#dimensions);
    return nearestOfGroups(kept, { groups, low: this.#low, estimate: this.#estimate, high: this.#high }, slack);
  }

  #keep(kept: readonly number[]): void {
    const pick = (numbers: readonly number[]) => kept.map((i) => numbers[i] as number);
    [this.#rows, this.#low, this.#estimate, this.#high] = [this.#rows, this.#low, this.#estimate, this.#high].map(
      pick,
    ) as [number[], number[], number[], number[]];
    if (this.#groups !== undefined) this.#groupOf = pick(this.#groupOf);
  }
}

/** Deviations of an estimate within which it is trusted, as a share of its bounds. */
export function estimateSlack(dimensions: number): number {
  return Math.min(1, ESTIMATE_DEVIATIONS / Math.sqrt(dimensions));
}

/**
 * Leaves out rows that are farther than another one of their group.
 *
 * @param slack the share of the bounds that counts: 1 for a proof
 */
export function nearestOfGroups(
  rows: readonly number[],
  { groups, low, estimate, high }: Readonly<Record<'groups' | 'low' | 'estimate' | 'high', ArrayLike<number>>>,
  slack: number,
): number[] {
  const at = (i: number, bound: ArrayLike<number>) => {
    const middle = estimate[i] as number;
    return slack === 1 ? (bound[i] as number) : middle + slack * ((bound[i] as number) - middle);
  };
  const least = leastOfGroups(
    rows.map((i) => at(i, high)),
    rows.map((i) => groups[i] as number),
  );
  return rows.filter((i) => at(i, low) <= (least.get(groups[i] as number) as number));
}

export function indexesUpTo(numbers: ArrayLike<number>, max: number): number[] {
  const indexes: number[] = [];
  for (let i = 0; i < numbers.length; i++) if ((numbers[i] as number) <= max) indexes.push(i);
  return indexes;
}
