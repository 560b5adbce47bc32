import { parseQuery } from '@akin/domain';
import type { SearchRequest, SearchResult } from '../src/search/request.ts';
import { search } from '../src/search/search.ts';
import { type Shop, shopOf } from './shop.ts';
import { type EngineKind, testOutputs } from './support.ts';

export const THUMBNAIL = Buffer.from('RIFF\x04\0\0\0WEBP', 'latin1');

const DOCUMENTS = [
  {
    id: '1',
    title: 'Red running shoe',
    category: 'red shoe',
    labels: ['red', 'Shoe', 'a_b'],
    price: 5,
    weight: 1.5,
    sold: true,
    taken: '2024-01-31',
    location: '48.1,11.5',
    import: testOutputs({ shape: [1, 0, 0, 0], names: ['red'] }),
    thumbnail: THUMBNAIL.toString('base64'),
  },
  {
    id: '2',
    title: 'A shoe that is red, très élégant',
    category: 'Red shoe',
    labels: ['red', 'a%b'],
    price: 10,
    weight: -2.5,
    sold: false,
    taken: '2024-01-31T23:59:59.999Z',
    location: '-17.5,179.5',
    import: testOutputs({ shape: [0, 1, 0, 0] }),
  },
  {
    id: '3',
    title: '東京都の写真',
    category: 'blue "hat" \\ 100%',
    labels: ['axb'],
    price: -7,
    taken: '2024-02-01',
    location: '-17.5,-179.5',
    import: testOutputs({ shape: [0.6, 0.8, 0, 0] }),
  },
  {
    id: '4',
    title: 'shoe shoe shoe',
    category: 'zoo',
    price: 10,
    weight: 3,
    import: testOutputs({ shape: [1, 0, 0, 0], names: [] }),
  },
  { id: '5 🙂', title: 'roam', "it's: odd": "o'neil", price: 9007199254740992 },
  { id: '6', title: '京都', 'Robert"); drop table documents; --': 'x', labels: [] },
];

type Ask = (request: SearchRequest) => Promise<SearchResult>;
type Find = (q: string, request?: Partial<Omit<SearchRequest, 'query'>> & { fq?: string[] }) => Promise<SearchResult>;

/**
 * Call this in a `describe`: all its tests search one collection with unusual documents.
 *
 * @param take gets the collection before the first test
 */
export function searchShop(kind: EngineKind, take: (shop: Shop) => void = () => {}): { find: Find; ask: Ask } {
  let shop: Shop;
  shopOf(
    kind,
    {
      documents: DOCUMENTS,
      gone: [{ id: 'gone', title: 'shoe', import: testOutputs({ shape: [1, 0, 0, 0] }) }],
      later: [{ id: 'later', title: 'shoe' }],
    },
    (made) => {
      shop = made;
      take(shop);
    },
  );

  const ask: Ask = (request) => search(shop.store, shop.collection, request);
  return {
    ask,
    find: (q, { fq = [], ...rest } = {}) =>
      ask({ query: parseQuery(q), filters: fq.map((one) => parseQuery(one)), rows: 10, ...rest }),
  };
}

/** The first characters of the found ids. */
export const ids = (result: SearchResult) => result.hits.map(({ id }) => id[0]).join('');
