import type { Bits } from './bits.ts';
import { type CodedQuery, MOST_SIGN_SUM } from './codes.ts';
import type { VectorQuery } from './query.ts';
import { grown } from './row-table.ts';
import { type Codes, placeOf, sumOf } from './vectors.ts';

/** In a dense neighbourhood, up to this many times as many rows are compared. */
const CROWD = 25;
/** An estimate by signs is trusted within this many standard deviations. */
const DEVIATIONS = 3.5;
/** Maximum bins of the histogram of sums. */
const STEPS = 512;

/** The rows found so far and their sums. The arrays grow to the maximum that any search needs, and are reused. */
let foundRows = new Uint32Array(65_536);
let foundSums = new Uint16Array(65_536);

/**
 * Finds the rows whose signs are nearest to a query. Signs estimate the distance of a row with an error. So all rows
 * are taken whose sums are within some standard deviations of the sum of the last wanted row: queries in dense
 * neighbourhoods compare more rows.
 */
export function nearBySigns(codes: Codes, coded: CodedQuery, rows: Bits, query: VectorQuery): Uint32Array {
  const bounds = new SumBounds(coded, query);
  let count = 0;
  codes.nearBySigns(
    coded,
    rows,
    () => bounds.most,
    (first, found, added) => {
      if (count + added > foundRows.length) {
        const room = 2 * (count + added);
        foundRows = grown(foundRows, new Uint32Array(room));
        foundSums = grown(foundSums, new Uint16Array(room));
      }
      for (let i = 0; i < added; i++, count++) {
        const one = found[i] as number;
        foundRows[count] = first + placeOf(one);
        foundSums[count] = sumOf(one);
        bounds.add(sumOf(one));
      }
      if (added > 0) bounds.tighten();
    },
  );
  let total = 0;
  for (let i = 0; i < count; i++) {
    if ((foundSums[i] as number) <= bounds.most) foundRows[total++] = foundRows[i] as number;
  }
  return foundRows.slice(0, total);
}

/** The maximum sum that a row may have to be compared by levels, given the sums of the rows found so far. */
class SumBounds {
  readonly #query: VectorQuery;
  readonly #signs: CodedQuery['signs'];
  /** How many sums are in each bin. */
  readonly #histogram = new Uint32Array(STEPS);
  readonly #step: number;
  /** The maximum only decreases, so rows that were skipped cannot change it. */
  most = MOST_SIGN_SUM;

  constructor({ signs }: CodedQuery, query: VectorQuery) {
    this.#query = query;
    this.#signs = signs;
    // Two bytes of signs add at most 255.
    this.#step = Math.ceil((255 * signs.tables.length) / 64 / STEPS);
  }

  add(sum: number): void {
    const step = Math.floor(sum / this.#step);
    this.#histogram[step] = (this.#histogram[step] as number) + 1;
  }

  tighten(): void {
    const { wanted, leastCompared } = this.#query;
    const last = this.#reach(wanted);
    const { scale, sum, length } = this.#signs;
    // Model: each number differs in sign with the same probability, independently.
    const share = Math.min(0.5, last / (sum * scale || 1));
    const deviation = scale * length * Math.sqrt(share * (1 - share));
    const widest = Math.min(this.#reach(CROWD * leastCompared), last + DEVIATIONS * deviation);
    this.most = Math.min(this.most, Math.max(last, this.#reach(leastCompared), Math.ceil(widest)));
  }

  /** The smallest bin border that at least this many rows do not exceed. */
  #reach(rows: number): number {
    let count = 0;
    for (let step = 0; step < STEPS; step++) {
      count += this.#histogram[step] as number;
      if (count >= rows) return (step + 1) * this.#step - 1;
    }
    return MOST_SIGN_SUM;
  }
}
