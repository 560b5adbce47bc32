import type { Query } from './query.ts';

const MIN_PRODUCT = 1e-30;
/** The scores of all clauses together stay far below the limit of a Double. */
const MAX_PRODUCT = 1e30;

/** The expected values of a boost, for error messages. */
export const BOOST_LIMITS = 'expected a boost that is 0, or from 1e-30 to 1e30 when multiplied by those inside it';

/**
 * Whether the scores of a query fit a Double: nested boosts multiply each other, and both a score without limit and one
 * that is too small for a Double would be an error of the database.
 */
export function areBoostsInRange(query: Query): boolean {
  const { smallest, largest } = products(query);
  return smallest >= MIN_PRODUCT && largest <= MAX_PRODUCT;
}

interface Products {
  readonly smallest: number;
  readonly largest: number;
}

const NONE: Products = { smallest: Number.POSITIVE_INFINITY, largest: 0 };

/** The range of the products of nested boosts. Those of 0 do not count. */
function products(query: Query): Products {
  switch (query.kind) {
    case 'bool': {
      let { smallest, largest } = NONE;
      for (const clauses of [query.must, query.should]) {
        for (const clause of clauses) {
          const inner = products(clause);
          smallest = Math.min(smallest, inner.smallest);
          largest = Math.max(largest, inner.largest);
        }
      }
      return { smallest, largest };
    }
    case 'boost': {
      if (query.factor === 0) return NONE;
      const inner = products(query.query);
      return { smallest: inner.smallest * query.factor, largest: inner.largest * query.factor };
    }
    case 'constant':
      return query.score === 0 ? NONE : { smallest: query.score, largest: query.score };
    default:
      return { smallest: 1, largest: 1 };
  }
}
