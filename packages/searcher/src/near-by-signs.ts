import type { Bits } from './bits.ts';
import { type CodedQuery, MOST_SIGN_SUM } from './codes.ts';
import type { VectorQuery } from './query.ts';
import { grown } from './row-table.ts';
import { type Codes, placeOf, sumOf } from './vectors.ts';

/** So many times as many rows are compared where they crowd. */
const CROWD = 25;
/** Signs tell distances with that many deviations of error. */
const DEVIATIONS = 3.5;
/** Sums are counted in steps: so many at most. */
const STEPS = 512;

/** Rows that were near when they were looked at, and their sums: grow to the most that any search needs. */
let foundRows = new Uint32Array(65_536);
let foundSums = new Uint16Array(65_536);

/**
 * The rows whose signs are nearest to a query. Signs tell the distance of a row with an error: all are taken whose sums
 * are within some deviations of that of the last one wanted, so that queries around which many rows crowd compare more of
 * them.
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

/** How great the sum of a row may be that is compared closely, by the sums of the rows that were found so far. */
class SumBounds {
  readonly #query: VectorQuery;
  readonly #signs: CodedQuery['signs'];
  /** How many sums lie in each step. */
  readonly #histogram = new Uint32Array(STEPS);
  readonly #step: number;
  /** It only becomes less: rows that are left out cannot change what it depends on. */
  most = MOST_SIGN_SUM;

  constructor({ signs }: CodedQuery, query: VectorQuery) {
    this.#query = query;
    this.#signs = signs;
    // Two bytes of signs add 255 at most.
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
    // Each number differs in sign with the same chance, as if they were drawn.
    const share = Math.min(0.5, last / (sum * scale || 1));
    const deviation = scale * length * Math.sqrt(share * (1 - share));
    const widest = Math.min(this.#reach(CROWD * leastCompared), last + DEVIATIONS * deviation);
    this.most = Math.min(this.most, Math.max(last, this.#reach(leastCompared), Math.ceil(widest)));
  }

  /** A sum that so many rows do not exceed. */
  #reach(rows: number): number {
    let count = 0;
    for (let step = 0; step < STEPS; step++) {
      count += this.#histogram[step] as number;
      if (count >= rows) return (step + 1) * this.#step - 1;
    }
    return MOST_SIGN_SUM;
  }
}
