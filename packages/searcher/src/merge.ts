import { nth } from './nth.ts';
import { type Candidates, handedOn, type VectorQuery } from './query.ts';

/** With more candidates than that, an answer that need not be exact is given by estimates. */
const MOST_PROVEN = 1_000;
/** So many times as many of those are handed on: far from the query, distances hardly differ. */
const MORE_FAR = 4;

/** What one of some parts of a collection, over which its documents are spread by chance, is asked. */
export function shareOf<Query extends Pick<VectorQuery, 'exactRows' | 'leastCompared'>>(
  query: Query,
  parts: number,
): Query {
  // A part has a share of the matches, a little more now and then: some deviations of a binomial distribution.
  const share = query.exactRows / parts;
  const exactRows = parts === 1 ? share : Math.ceil(share + 5 * Math.sqrt(share));
  return { ...query, exactRows, leastCompared: Math.ceil(query.leastCompared / parts) };
}

/**
 * The candidates of parts of a collection, as one that has all of it would have found them.
 * @param parts each has found its own by {@link shareOf} the query
 */
export function mergeCandidates(
  parts: readonly Candidates[],
  {
    wanted,
    maxDistance,
    mostCandidates,
    exactRows,
  }: Pick<VectorQuery, 'wanted' | 'maxDistance' | 'mostCandidates' | 'exactRows'>,
): Candidates {
  const join = <T>(pick: (part: Candidates) => ArrayLike<T>): T[] => parts.flatMap((part) => Array.from(pick(part)));
  const docs = join(({ docs }) => docs);
  const low = join(({ low }) => low);
  const likely = join(({ likely }) => likely);
  const high = join(({ high }) => high);
  const upTo = (numbers: readonly number[], bound: number) =>
    docs.map((_, i) => i).filter((i) => (numbers[i] as number) <= bound);
  const isProof = parts.every((part) => part.isExact);
  const mustBe = maxDistance !== undefined || exactRows === Number.POSITIVE_INFINITY;
  const proven = isProof ? upTo(low, maxDistance === undefined ? nth(high, wanted) : Number.POSITIVE_INFINITY) : [];
  const estimated = upTo(likely, nth(likely, (isProof ? MORE_FAR : 1) * handedOn(wanted)));
  const isExact = isProof && (mustBe || proven.length <= Math.max(MOST_PROVEN, estimated.length));
  let kept = isExact ? proven : estimated;
  const areTooMany = parts.some((part) => part.areTooMany) || kept.length > mostCandidates;
  if (areTooMany) kept = [];
  const take = (numbers: readonly number[]) => Float32Array.from(kept, (i) => numbers[i] as number);
  return {
    matches: parts.reduce((sum, { matches }) => sum + matches, 0),
    isExact,
    compared: parts.reduce((sum, { compared }) => sum + compared, 0),
    areTooMany,
    docs: Float64Array.from(kept, (i) => docs[i] as number),
    low: take(low),
    likely: take(likely),
    high: take(high),
  };
}
