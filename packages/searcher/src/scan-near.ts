import type { Bits } from './bits.ts';
import type { CandidateCollector } from './candidate-collector.ts';
import type { ClusterScan, CodeTable } from './code-table.ts';
import { type CodedQuery, expectedSignSum, MAX_SIGN_SUM } from './codes.ts';
import type { VectorQuery } from './query.ts';
import type { Limit, RowVisitor } from './segment.ts';

/**
 * Limit of the sum of signs, in standard deviations above the mean of rows that are as far away as the last wanted row
 * so far. Only rows up to this limit are compared by levels.
 */
const DEVIATIONS = 2.25;
/**
 * A scan of clusters ends when it has scanned MIN_SCANNED of all matches, and found no near row in the last
 * MIN_WITHOUT_NEAR of them. A row is near if its sum of signs is at most NEAR_DEVIATIONS above that mean. A query that
 * is far from all rows finds such rows everywhere, so nearly all clusters are scanned.
 */
const NEAR_DEVIATIONS = 0.5;
const MIN_SCANNED = 0.05;
const MIN_WITHOUT_NEAR = 0.04;
/** Minimum number of clusters for each of these two shares: in a small collection, a share is only a few clusters. */
const MIN_CLUSTERS = 16;

/**
 * Finds the rows whose levels are nearest to a query, cluster by cluster. The distances so far limit the sum of signs
 * of later rows.
 *
 * @param rows the rows with vectors
 * @param matches how many rows these are
 * @param best receives the rows
 * @returns how many rows were compared by levels
 */
export function scanNear(
  codes: CodeTable,
  coded: CodedQuery,
  rows: Bits,
  matches: number,
  query: VectorQuery,
  best: CandidateCollector,
): number {
  const scan = new NearScan(codes, coded, matches, query, best);
  return codes.scanClusters(coded, matches === codes.count ? undefined : rows, scan);
}

class NearScan implements ClusterScan {
  readonly #codes: CodeTable;
  readonly #coded: CodedQuery;
  readonly #matches: number;
  readonly #query: VectorQuery;
  readonly #best: CandidateCollector;
  /** The squared distance of the last wanted row, and how many rows were nearer since it was computed. */
  #last = Number.POSITIVE_INFINITY;
  #nearer = 0;
  /** The maximum sums of signs of rows that are compared by levels, and of rows that are near. */
  #maxSum = MAX_SIGN_SUM;
  #near = MAX_SIGN_SUM;
  /** Number of scanned matches and clusters: in total, and since the last near row. */
  #scanned = 0;
  #clusters = 0;
  #withoutNear = 0;
  #clustersWithoutNear = 0;

  constructor(codes: CodeTable, coded: CodedQuery, matches: number, query: VectorQuery, best: CandidateCollector) {
    this.#codes = codes;
    this.#coded = coded;
    this.#matches = matches;
    this.#query = query;
    this.#best = best;
  }

  get limit(): Limit {
    return this.#best;
  }

  maxSum(compared: number): number {
    const { k, minCompared } = this.#query;
    if (compared < minCompared) return MAX_SIGN_SUM;
    // For many wanted rows, finding the last one takes as long as a cluster.
    if (this.#nearer > k / 16) this.#tighten(k);
    return this.#maxSum;
  }

  readonly visit: RowVisitor = (row, low, estimate, high) => {
    if (estimate < this.#last) this.#nearer++;
    this.#best.add(row, low, estimate, high);
  };

  isEnough(matches: number, smallestSum: number): boolean {
    const isNear = smallestSum <= this.#near;
    this.#scanned += matches;
    this.#clusters++;
    this.#withoutNear = isNear ? 0 : this.#withoutNear + matches;
    this.#clustersWithoutNear = isNear ? 0 : this.#clustersWithoutNear + 1;
    const min = Math.max(MIN_SCANNED * this.#matches, 2 * this.#query.minCompared);
    return (
      this.#scanned >= min &&
      this.#clusters >= 2 * MIN_CLUSTERS &&
      this.#withoutNear >= MIN_WITHOUT_NEAR * this.#matches &&
      this.#clustersWithoutNear >= MIN_CLUSTERS
    );
  }

  #tighten(wanted: number): void {
    this.#nearer = 0;
    this.#last = this.#best.estimateAt(wanted);
    if (this.#last === Number.POSITIVE_INFINITY) return;
    const cosine = this.#codes.minCosine(this.#coded, this.#last);
    const sumAt = (deviations: number) =>
      Math.min(MAX_SIGN_SUM, expectedSignSum(this.#coded, this.#codes.coder.dimensions, cosine, deviations));
    this.#maxSum = Math.ceil(sumAt(DEVIATIONS));
    this.#near = sumAt(NEAR_DEVIATIONS);
  }
}
