import { ESTIMATE_DEVIATIONS, estimateSlack, indexesUpTo, nearestOfGroups } from './candidate-collector.ts';
import { joined, picked } from './columns.ts';
import { type Candidates, candidateCount, type FoundGroups, type PartCandidates, type VectorQuery } from './query.ts';
import { countGroups, nthSmallestGroup } from './row-groups.ts';

/** If bounds leave more candidates than this, an approximate search returns those with the best estimates instead. */
const MAX_EXACT_CANDIDATES = 1_000;
/**
 * Maximum number of approximate candidates, as a multiple of the candidates of one part. Far from the query more of
 * them are needed, because distances hardly differ there.
 */
const FAR_CANDIDATE_FACTOR = 4;

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
  parts: readonly PartCandidates[],
  {
    k,
    maxDistance,
    maxCandidates,
    exactRows,
    vector,
    distinct,
  }: Pick<VectorQuery, 'k' | 'maxDistance' | 'maxCandidates' | 'exactRows' | 'vector' | 'distinct'>,
): Candidates {
  const total = parts.reduce((sum, part) => sum + part.docs.length, 0);
  const low = joined(parts, (part) => part.low, new Float32Array(total));
  const estimate = joined(parts, (part) => part.estimate, new Float32Array(total));
  const high = joined(parts, (part) => part.high, new Float32Array(total));
  const groups = distinct && joined(parts, (part) => part.groups ?? [], new Float64Array(total));
  const isProof = parts.every((part) => part.isExact);
  const mustBe = maxDistance !== undefined || exactRows === Number.POSITIVE_INFINITY;
  const proven = maxDistance === undefined ? nthSmallestGroup(high, groups, k) : Number.POSITIVE_INFINITY;
  const estimated = estimatedBound(estimate, high, groups, k, vector.length);
  const upTo = (by: Float32Array, bound: number, slack: number): number[] => {
    const near = indexesUpTo(by, bound);
    return groups === undefined ? near : nearestOfGroups(near, { groups, low, estimate, high }, slack);
  };
  const certain = isProof ? upTo(low, proven, 1) : undefined;
  const likely = mustBe && certain ? certain : upTo(estimate, estimated, estimateSlack(vector.length));
  const isExact = certain !== undefined && (mustBe || certain.length <= Math.max(MAX_EXACT_CANDIDATES, likely.length));
  let kept = isExact ? certain : likely;
  const isOverLimit = parts.some((part) => part.isOverLimit) || kept.length > maxCandidates;
  if (isOverLimit) kept = [];
  const count = kept.length;
  const docs = joined(parts, (part) => part.docs, new Float64Array(total));
  return {
    matches: parts.reduce((sum, { matches }) => sum + matches, 0),
    isExact,
    compared: parts.reduce((sum, { compared }) => sum + compared, 0),
    isOverLimit,
    docs: picked(docs, kept, new Float64Array(count)),
    low: picked(low, kept, new Float32Array(count)),
    estimate: picked(estimate, kept, new Float32Array(count)),
    high: picked(high, kept, new Float32Array(count)),
    ...(distinct &&
      groups && {
        groups: picked(groups, kept, new Float64Array(count)),
        groupCount: countGroups(
          parts.map(({ found }) => found as FoundGroups),
          distinct.missing,
        ),
      }),
  };
}

/**
 * The estimate up to which rows may be among the nearest. The error of an estimate is the product of a residual and the
 * orthogonal part of the query, which point in random directions; its bound is the product of their lengths.
 */
function estimatedBound(
  estimate: Float32Array,
  high: Float32Array,
  groups: Float64Array | undefined,
  wanted: number,
  dimensions: number,
): number {
  let slack = 0;
  for (let i = 0; i < estimate.length; i++) slack += (high[i] as number) - (estimate[i] as number);
  const deviation = slack / estimate.length / Math.sqrt(dimensions);
  const nth = (n: number) => nthSmallestGroup(estimate, groups, n);
  return Math.min(nth(wanted) + ESTIMATE_DEVIATIONS * deviation, nth(FAR_CANDIDATE_FACTOR * candidateCount(wanted)));
}
