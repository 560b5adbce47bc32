import type { Bits } from './bits.ts';
import type { Codes, SignScan } from './code-table.ts';
import { type CodedQuery, MAX_SIGN_SUM } from './codes.ts';
import type { VectorQuery } from './query.ts';
import { grown } from './row-table.ts';
import { placeOf, sumOf } from './segment.ts';

/** Maximum rows compared for each wanted row. Queries in dense regions, or far from all rows, need this many. */
const MAX_COMPARED_FACTOR = 80;
/** An estimate by signs is trusted within this many standard deviations. */
const DEVIATIONS = 3.5;
/** Maximum bins of the histogram of sums. */
const STEPS = 512;
/**
 * A scan of clusters ends when it has seen this share of all matches, and nothing near in a further share. Near is a sum
 * within some standard deviations of the sum of the last wanted row. A query that is far from all rows finds such
 * sums everywhere, so nearly all clusters are scanned.
 */
const MIN_SCANNED = 0.05;
const MIN_WITHOUT_NEAR = 0.04;
/** Also at least this many clusters each time: where clusters are few, a share of the matches is in very few of them. */
const MIN_CLUSTERS = 16;
const NEAR_DEVIATIONS = 2;

/** The places found so far and their sums. The arrays grow to the maximum that any search needs, and are reused. */
let foundPlaces = new Uint32Array(65_536);
let foundSums = new Uint16Array(65_536);

/**
 * Finds the rows whose signs are nearest to a query. Signs estimate the distance of a row with an error. So all rows
 * are taken whose sums are within some standard deviations of the sum of the last wanted row: queries in dense
 * neighbourhoods compare more rows.
 *
 * @param rows with vectors
 * @param matches how many rows these are
 * @returns the places of the rows; valid until the next call
 */
export function nearBySigns(
  codes: Codes,
  coded: CodedQuery,
  rows: Bits,
  matches: number,
  query: VectorQuery,
): Uint32Array {
  const scan = new NearScan(coded, query, matches);
  codes.nearBySigns(coded, matches === codes.count ? undefined : rows, scan);
  return scan.near();
}

class NearScan implements SignScan {
  readonly #query: VectorQuery;
  readonly #signs: CodedQuery['signs'];
  readonly #matches: number;
  /** How many sums are in each bin. */
  readonly #histogram = new Uint32Array(STEPS);
  readonly #step: number;
  #count = 0;
  /** How many matches were scanned, in how many clusters; and since the last row near the wanted ones. */
  #scanned = 0;
  #clusters = 0;
  #withoutNear = 0;
  #clustersWithoutNear = 0;
  /** The smallest sum of the cluster. */
  #smallest = MAX_SIGN_SUM;
  /** The maximum sum that a row may have to be compared by levels. It only decreases, so skipped rows cannot change it. */
  #most = MAX_SIGN_SUM;
  /** The maximum sum that counts as near the last wanted one. */
  #near = MAX_SIGN_SUM;

  constructor({ signs }: CodedQuery, query: VectorQuery, matches: number) {
    this.#query = query;
    this.#signs = signs;
    this.#matches = matches;
    // Two bytes of signs add at most 255.
    this.#step = Math.ceil((255 * signs.tables.length) / 64 / STEPS);
  }

  most(): number {
    return this.#most;
  }

  take(first: number, found: Uint32Array): void {
    let count = this.#count;
    if (count + found.length > foundPlaces.length) {
      const capacity = 2 * (count + found.length);
      foundPlaces = grown(foundPlaces, new Uint32Array(capacity));
      foundSums = grown(foundSums, new Uint16Array(capacity));
    }
    for (let i = 0; i < found.length; i++, count++) {
      const one = found[i] as number;
      const sum = sumOf(one);
      foundPlaces[count] = first + placeOf(one);
      foundSums[count] = sum;
      if (sum < this.#smallest) this.#smallest = sum;
      const bin = Math.floor(sum / this.#step);
      this.#histogram[bin] = (this.#histogram[bin] as number) + 1;
    }
    this.#count = count;
    this.#tighten();
  }

  isEnough(matches: number): boolean {
    this.#scanned += matches;
    this.#clusters++;
    const isNear = this.#smallest <= this.#near;
    this.#withoutNear = isNear ? 0 : this.#withoutNear + matches;
    this.#clustersWithoutNear = isNear ? 0 : this.#clustersWithoutNear + 1;
    this.#smallest = MAX_SIGN_SUM;
    const least = Math.max(MIN_SCANNED * this.#matches, 2 * this.#query.leastCompared);
    return (
      this.#scanned >= least &&
      this.#clusters >= 2 * MIN_CLUSTERS &&
      this.#withoutNear >= MIN_WITHOUT_NEAR * this.#matches &&
      this.#clustersWithoutNear >= MIN_CLUSTERS
    );
  }

  /** The places whose sums are small enough; valid until the next scan. */
  near(): Uint32Array {
    let count = 0;
    for (let i = 0; i < this.#count; i++) {
      if ((foundSums[i] as number) <= this.#most) foundPlaces[count++] = foundPlaces[i] as number;
    }
    return foundPlaces.subarray(0, count);
  }

  #tighten(): void {
    const { wanted, leastCompared } = this.#query;
    const last = this.#reach(wanted);
    const { scale, sum, length } = this.#signs;
    // Model: each number differs in sign with the same probability, independently.
    const share = Math.min(0.5, last / (sum * scale || 1));
    const deviation = scale * length * Math.sqrt(share * (1 - share));
    const widest = Math.min(this.#reach(MAX_COMPARED_FACTOR * leastCompared), last + DEVIATIONS * deviation);
    this.#most = Math.min(this.#most, Math.max(last, this.#reach(leastCompared), Math.ceil(widest)));
    this.#near = last + NEAR_DEVIATIONS * deviation;
  }

  /** The smallest bin border that at least this many rows do not exceed. */
  #reach(rows: number): number {
    let count = 0;
    for (let step = 0; step < STEPS; step++) {
      count += this.#histogram[step] as number;
      if (count >= rows) return (step + 1) * this.#step - 1;
    }
    return MAX_SIGN_SUM;
  }
}
