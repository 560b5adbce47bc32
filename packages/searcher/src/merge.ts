import { nthSmallest } from './nth-smallest.ts';
import { type Candidates, candidateCount, type VectorQuery } from './query.ts';

/** If bounds leave more candidates than this, an approximate search returns those with the best estimates instead. */
const MAX_EXACT_CANDIDATES = 1_000;
/**
 * Maximum number of approximate candidates, as a multiple of the candidates of one part. Far from the query more of
 * them are needed, because distances hardly differ there.
 */
const FAR_CANDIDATE_FACTOR = 4;
/** An estimate by levels is trusted within this many standard deviations. */
const DEVIATIONS = 4;

/** The query for one of several parts of a collection. Documents are distributed over the parts at random. */
export function queryForPart<Query extends Pick<VectorQuery, 'exactRows' | 'minCompared'>>(
  query: Query,
  parts: number,
): Query {
  // A part has its share of the matches, plus some standard deviations of a binomial distribution.
  const share = query.exactRows / parts;
  const exactRows = parts === 1 ? share : Math.ceil(share + 5 * Math.sqrt(share));
  return { ...query, exactRows, minCompared: Math.ceil(query.minCompared / parts) };
}

/**
 * Merges the candidates of the parts of a collection into what a search of the whole collection would return.
 * @param parts the candidates of each part for {@link queryForPart} the query
 */
export function mergeCandidates(
  parts: readonly Candidates[],
  {
    k,
    maxDistance,
    maxCandidates,
    exactRows,
    vector,
  }: Pick<VectorQuery, 'k' | 'maxDistance' | 'maxCandidates' | 'exactRows' | 'vector'>,
): Candidates {
  const total = parts.reduce((sum, part) => sum + part.docs.length, 0);
  const join = <T extends Float32Array | Float64Array>(all: T, pick: (part: Candidates) => ArrayLike<number>): T => {
    let at = 0;
    for (const part of parts) {
      all.set(pick(part), at);
      at += part.docs.length;
    }
    return all;
  };
  const low = join(new Float32Array(total), (part) => part.low);
  const estimate = join(new Float32Array(total), (part) => part.estimate);
  const high = join(new Float32Array(total), (part) => part.high);
  const isProof = parts.every((part) => part.isExact);
  const mustBe = maxDistance !== undefined || exactRows === Number.POSITIVE_INFINITY;
  const proven = maxDistance === undefined ? nthSmallest(high, k) : Number.POSITIVE_INFINITY;
  const estimated = estimatedBound(estimate, high, k, vector.length);
  const isExact =
    isProof && (mustBe || countUpTo(low, proven) <= Math.max(MAX_EXACT_CANDIDATES, countUpTo(estimate, estimated)));
  const [by, bound] = isExact ? [low, proven] : [estimate, estimated];
  let count = countUpTo(by, bound);
  const isOverLimit = parts.some((part) => part.isOverLimit) || count > maxCandidates;
  if (isOverLimit) count = 0;
  const kept = new Uint32Array(count);
  for (let i = 0, at = 0; at < count; i++) if ((by[i] as number) <= bound) kept[at++] = i;
  const docs = join(new Float64Array(total), (part) => part.docs);
  const take = <T extends Float32Array | Float64Array>(all: T, into: T): T => {
    for (let i = 0; i < count; i++) into[i] = all[kept[i] as number] as number;
    return into;
  };
  return {
    matches: parts.reduce((sum, { matches }) => sum + matches, 0),
    isExact,
    compared: parts.reduce((sum, { compared }) => sum + compared, 0),
    isOverLimit,
    docs: take(docs, new Float64Array(count)),
    low: take(low, new Float32Array(count)),
    estimate: take(estimate, new Float32Array(count)),
    high: take(high, new Float32Array(count)),
  };
}

/**
 * The estimate up to which rows may be among the nearest. The error of an estimate is the product of a residual and the
 * orthogonal part of the query, which point in random directions; its bound is the product of their lengths.
 */
function estimatedBound(estimate: Float32Array, high: Float32Array, wanted: number, dimensions: number): number {
  let slack = 0;
  for (let i = 0; i < estimate.length; i++) slack += (high[i] as number) - (estimate[i] as number);
  const deviation = slack / estimate.length / Math.sqrt(dimensions);
  const last = nthSmallest(estimate, wanted);
  return Math.min(last + DEVIATIONS * deviation, nthSmallest(estimate, FAR_CANDIDATE_FACTOR * candidateCount(wanted)));
}

function countUpTo(numbers: Float32Array, bound: number): number {
  let count = 0;
  for (let i = 0; i < numbers.length; i++) if ((numbers[i] as number) <= bound) count++;
  return count;
}
