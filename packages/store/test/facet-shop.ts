import { type FieldValue, parseQuery } from '@akin/domain';
import type { FacetRequest, FacetResult } from '../src/search/facet-request.ts';
import type { SearchRequest } from '../src/search/request.ts';
import { search } from '../src/search/search.ts';
import { type Shop, shopOf } from './shop.ts';
import { type EngineKind, testOutputs } from './support.ts';

const DOCUMENTS = [
  {
    id: '1',
    labels: ['red', 'shoe', 'red'],
    category: 'Shoe',
    price: 10,
    weight: 0.5,
    sold: true,
    taken: '2024-01-31',
    import: testOutputs({ shape: [1, 0, 0, 0], names: ['red', 'white'] }),
  },
  {
    id: '2',
    labels: ['red', 'Straße'],
    category: 'Shoe',
    price: 20,
    weight: 1.5,
    sold: false,
    taken: '2024-02-29T12:00',
    import: testOutputs({ shape: [0.6, 0.8, 0, 0], names: ['red'] }),
  },
  {
    id: '3',
    labels: ['école'],
    category: 'hat',
    price: 20,
    weight: 1,
    sold: true,
    taken: '2024-03-31',
    import: testOutputs({ shape: [0, 1, 0, 0] }),
  },
  { id: '4', labels: ['a_b', 'axb', '100%'], category: 'zoo', price: 35, import: testOutputs({ shape: [0, 0, 1, 0] }) },
  { id: '5', category: 'hat', title: 'École d’été' },
  { id: '6', labels: [] },
];

type Count = (facets: readonly FacetRequest[], request?: Partial<SearchRequest>) => Promise<readonly FacetResult[]>;

/**
 * Call this in a `describe`: all its tests count the documents of one collection.
 *
 * @param take gets the collection before the first test
 */
export function facetShop(kind: EngineKind, take: (shop: Shop) => void = () => {}): { count: Count } {
  let shop: Shop;
  shopOf(
    kind,
    {
      documents: DOCUMENTS,
      gone: [{ id: 'gone', labels: ['gone'], category: 'gone', price: 20 }],
      later: [{ id: 'later', labels: ['later'], category: 'later', price: 20 }],
    },
    (made) => {
      shop = made;
      take(shop);
    },
  );

  return {
    count: async (facets, request = {}) =>
      (await search(shop.store, shop.collection, { query: parseQuery('*:*'), rows: 0, facets, ...request })).facets,
  };
}

/** A value as text. */
export const show = (value: FieldValue) => (value instanceof Date ? value.toISOString() : String(value));

/** The counts of a facet, each as `value:count`. */
export const print = (result: FacetResult | undefined): string => {
  if (result?.kind !== 'field' && result?.kind !== 'range') return String(result?.count);
  return result.counts.map(({ value, count: n }) => `${show(value)}:${n}`).join(' ');
};
