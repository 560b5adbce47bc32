import { type Bits, clearBit, createBits, forEachBit, popCount, setBit } from './bits.ts';
import type { DocValues } from './doc-values.ts';
import { nthSmallest } from './nth-smallest.ts';
import type { Distinct, FoundGroups } from './query.ts';
import type { RowTable } from './row-table.ts';

/** The group of each row: the ordinal of its value; 0 or a negative number without one. */
export class RowGroups {
  readonly #values: DocValues | undefined;
  readonly #missing: Distinct['missing'];
  readonly #rows: RowTable;

  constructor(values: DocValues | undefined, missing: Distinct['missing'], rows: RowTable) {
    this.#values = values;
    this.#missing = missing;
    this.#rows = rows;
  }

  of(row: number): number {
    const ordinal = this.#values?.at(row) ?? 0;
    return ordinal > 0 || this.#missing !== 'each' ? ordinal : -1 - this.#rows.docOf(row);
  }

  /** The greatest ordinal. */
  get greatest(): number {
    return this.#values?.greatest ?? 0;
  }

  /** Whether rows without a value belong to no group. */
  get leavesOut(): boolean {
    return this.#missing === 'leave-out';
  }

  /** Clears the rows that belong to no group. */
  restrict(rows: Bits): void {
    if (!this.leavesOut) return;
    const values = this.#values;
    if (values === undefined) rows.fill(0);
    else forEachBit(rows, (row) => values.at(row) === 0 && clearBit(rows, row));
  }

  found(rows: Bits): FoundGroups {
    const column = this.#values;
    const values = createBits(this.greatest + 1);
    let without = 0;
    forEachBit(rows, (row) => {
      const ordinal = column?.at(row) ?? 0;
      if (ordinal > 0) setBit(values, ordinal);
      else without++;
    });
    return { values, withoutValue: without };
  }
}

export function countGroups(parts: readonly FoundGroups[], missing: Distinct['missing']): number {
  const without = parts.reduce((sum, { withoutValue }) => sum + withoutValue, 0);
  const length = Math.max(0, ...parts.map(({ values }) => values.length));
  let count = missing === 'together' ? Math.min(1, without) : without;
  for (let i = 0; i < length; i++) count += popCount(parts.reduce((word, { values }) => word | (values[i] ?? 0), 0));
  return count;
}

export function leastOfGroups(numbers: ArrayLike<number>, groups: ArrayLike<number>): Map<number, number> {
  const least = new Map<number, number>();
  for (let i = 0; i < numbers.length; i++) {
    const [group, number] = [groups[i] as number, numbers[i] as number];
    if (number < (least.get(group) ?? Number.POSITIVE_INFINITY)) least.set(group, number);
  }
  return least;
}

/** As `nthSmallest`, of the least numbers of the groups. @param groups undefined: each number is a group */
export function nthSmallestGroup(numbers: ArrayLike<number>, groups: ArrayLike<number> | undefined, n: number): number {
  return nthSmallest(groups === undefined ? numbers : [...leastOfGroups(numbers, groups).values()], n);
}
