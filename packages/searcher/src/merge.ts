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
  const likely = join(new Float32Array(total), (part) => part.likely);
  const high = join(new Float32Array(total), (part) => part.high);
  const isProof = parts.every((part) => part.isExact);
  const mustBe = maxDistance !== undefined || exactRows === Number.POSITIVE_INFINITY;
  const proven = maxDistance === undefined ? nth(high, wanted) : Number.POSITIVE_INFINITY;
  const estimated = nth(likely, (isProof ? MORE_FAR : 1) * handedOn(wanted));
  const isExact = isProof && (mustBe || countUpTo(low, proven) <= Math.max(MOST_PROVEN, countUpTo(likely, estimated)));
  const [by, bound] = isExact ? [low, proven] : [likely, estimated];
  let count = countUpTo(by, bound);
  const areTooMany = parts.some((part) => part.areTooMany) || count > mostCandidates;
  if (areTooMany) count = 0;
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
    areTooMany,
    docs: take(docs, new Float64Array(count)),
    low: take(low, new Float32Array(count)),
    likely: take(likely, new Float32Array(count)),
    high: take(high, new Float32Array(count)),
  };
}

function countUpTo(numbers: Float32Array, bound: number): number {
  let count = 0;
  for (let i = 0; i < numbers.length; i++) if ((numbers[i] as number) <= bound) count++;
  return count;
}
