import { type FieldValue, parseQuery } from '@akin/domain';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { accept, ENGINES, openTestStore, testOutputs, testPlace } from '../../test/support.ts';
import { type Collection, createCollection } from '../collections.ts';
import { commit } from '../commit.ts';
import type { Store } from '../store.ts';
import { readThumbnail } from './read.ts';
import type { SearchRequest, SearchResult } from './request.ts';
import { search } from './search.ts';
import { parseSort } from './sort.ts';
import { terms } from './terms.ts';

const THUMBNAIL = Buffer.from('RIFF\x04\0\0\0WEBP', 'latin1');

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

describe.each(ENGINES)('search on %s', (kind) => {
  let store: Store;
  let remove: () => Promise<void>;
  let collection: Collection;

  beforeAll(async () => {
    const made = await testPlace(kind);
    remove = made.remove;
    store = await openTestStore(made.place);
    collection = await createCollection(store, 'shop');
    await accept(store, collection, DOCUMENTS);
    await commit(store, collection);
    // Replaced, deleted and uncommitted rows, which no search may see.
    await accept(store, collection, [{ id: 'gone', title: 'shoe', import: testOutputs({ shape: [1, 0, 0, 0] }) }]);
    await commit(store, collection);
    await accept(store, collection, [{ kind: 'delete', id: 'gone' }]);
    await commit(store, collection);
    await accept(store, collection, [{ id: 'later', title: 'shoe' }]);
  });

  afterAll(async () => {
    await store?.[Symbol.asyncDispose]();
    await remove?.();
  });

  const find = (q: string, request: Partial<Omit<SearchRequest, 'query'>> & { fq?: string[] } = {}) => {
    const { fq = [], ...rest } = request;
    return search(store, collection, {
      query: parseQuery(q),
      filters: fq.map((one) => parseQuery(one)),
      rows: 10,
      ...rest,
    });
  };
  const ids = (result: SearchResult) => result.hits.map(({ id }) => id[0]).join('');
  const sorted = async (q: string) => ids(await find(q, { sort: [{ name: 'id', direction: 'asc' }] }));

  describe('queries', () => {
    it.each([
      ['*:*', '123456'],
      ['', ''],
      ['id:1', '1'],
      ['id:"5 🙂"', '5'],
      ['id:5\\ 🙂', '5'],
      ['-id:1', '23456'],
      ['-id:(1 2)', '3456'],
      ['id:(1 OR 3)', '13'],
      ['category:"red shoe"', '1'],
      ['category:red\\ *', '1'],
      ['category:?ed\\ shoe', '12'],
      ['category:*shoe', '12'],
      ['category:[R TO r]', '23'],
      ['category:[R TO s]', '123'],
      ['category:{* TO Red\\ shoe}', ''],
      ['category:"blue \\"hat\\" \\\\ 100%"', '3'],
      ['category:*\\ 100%', '3'],
      ['category:*100_', ''],
      ['labels:red', '12'],
      ['labels:shoe', ''],
      ['labels:(red AND Shoe)', '1'],
      ['labels:a_b', '1'],
      ['labels:a_*', '1'],
      ['labels:a%*', '2'],
      ['labels:a?b', '123'],
      ['labels:[B TO a]', '1'],
      ['labels:*', '123'],
      ['-labels:red', '3456'],
      ['-labels:*', '456'],
      ['price:10', '24'],
      ['price:(5 10.0)', '124'],
      ['price:[5 TO 10}', '1'],
      ['price:[* TO 0]', '3'],
      ['price:-7', '3'],
      ['price:9007199254740992', '5'],
      ['price:9007199254740993', ''],
      ['price:[1000 TO *]', '5'],
      ['weight:[-2.5 TO 1.5}', '2'],
      ['weight:*', '124'],
      ['sold:true', '1'],
      ['sold:F', '2'],
      ['-sold:true', '23456'],
      ['NOT sold:true AND price:[* TO *]', '2345'],
      ['taken:2024-01-31', '12'],
      ['taken:"2024-01-31T00:00:00Z"', '1'],
      ['taken:[2024-01-31 TO 2024-01-31]', '12'],
      ['taken:{2024-01-31 TO *]', '3'],
      ['taken:[* TO 2024-02-01}', '12'],
      ['taken:[2024-01-31T12\\:00 TO 2024-02-01T00:00:00Z]', '23'],
      ['taken:[2024-03-01T00:00:00Z-1MONTH TO *]', '3'],
      ['location:"48.1,11.5"', '1'],
      ['location:[48,11 TO 49,12]', '1'],
      ['location:[-20,179 TO -10,-179]', '23'],
      ['location:[-20,-179.4 TO -10,179.4]', ''],
      ['location:*', '123'],
      ['tint_names:red', '1'],
      ['tint_free:(0 AND 8)', '14'],
      ['tint_names:*', '1'],
      ['tint_free:[5 TO 7]', ''],
      ['tint_isolated:true', '14'],
      ['shape_cluster:[0 TO 0]', '14'],
      ['shape_descriptor:*', '1234'],
      ['shoe', '124'],
      ['SHOE', '124'],
      ['red shoe', '124'],
      ['red AND shoe', '12'],
      ['shoe -red', '4'],
      ['"red shoe"', '12'],
      ['title:"red shoe"', ''],
      ['"running shoe"', '1'],
      ['"shoe red"~2', '12'],
      ['"shoe running"', ''],
      ['"running red shoe"~1', ''],
      ['"red running shoe"~1', '1'],
      ['"shoe running"~2', '1'],
      ['"red elegant"~1', '2'],
      ['"shoe elegant"~3', ''],
      ['"shoe elegant"~4', '2'],
      ['"shoe shoe"~1', '4'],
      ['elegant', '2'],
      ['ÉLÉGANT', '2'],
      ['eleg*', '2'],
      ['Él?gan*', '2'],
      ['*unning', '1'],
      ['京都', '36'],
      ['東京', '3'],
      ['東京都', '3'],
      ['都東京', ''],
      ['title:roam', '5'],
      ['title:raom~1', '5'],
      ['title:ram~1', '5'],
      ['title:roaming~', ''],
      ['title:foamy~', '5'],
      ['title:foamy~1', ''],
      ['roamed~2', '5'],
      ['runing~1', '1'],
      ['{!words f=title}red shoe', '12'],
      ['{!words f=category}SHOE', '12'],
      ['{!words f=category}running', ''],
      ['{!words f=title q.op=OR}roam 京都', '356'],
      ['text:*', '123456'],
      ['text:[roa TO rob]', '5'],
      ['{!term f=id}5 🙂', '5'],
      ['{!terms f=id}1,2', '12'],
      ['{!prefix f=category}red', '1'],
      ['filter(-id:1) AND shoe', '24'],
      ['sold:true (-id:1)', '1'],
      ['"?!"', ''],
      ['+shoe "?!"', '124'],
    ])('%s finds %s', async (q, expected) => {
      expect(await sorted(q)).toBe(expected);
    });

    it('finds by fields with odd names', async () => {
      expect(await sorted("it's\\:\\ odd:o'neil")).toBe('5');
      expect(await sorted('Robert\\"\\)\\;\\ drop\\ table\\ documents\\;\\ --:x')).toBe('6');
    });

    it('filters by all filters, whatever they score', async () => {
      expect(ids(await find('shoe', { fq: ['price:10', '-sold:false'] }))).toBe('4');
      expect(await find('shoe', { fq: ['price:10', '-price:10'] })).toMatchObject({ numFound: 0, hits: [] });
    });

    it.each(['prize:5', 'price:abc', 'later:1'])('refuses %s', async (q) => {
      await expect(find(q)).rejects.toMatchObject({ code: 'bad-request' });
      await expect(find('*:*', { fq: [q] })).rejects.toMatchObject({ code: 'bad-request' });
    });
  });

  describe('results', () => {
    it('come whole, with the types they were sent with', async () => {
      const { hits, commit: number } = await find('id:1');
      expect(number).toBe(3);
      const [hit] = hits;
      expect(hit?.document).toEqual(
        new Map<string, FieldValue>([
          ['id', '1'],
          ['labels', ['red', 'Shoe', 'a_b']],
          ['location', { lat: 48.1, lon: 11.5 }],
          ['shape_rerank', -(2n ** 62n)],
          ['tint_names', ['red']],
          ['tint_isolated', true],
          ['tint_freq', [0.25, 0.75]],
          ['tint_free', [0n, 8n]],
          ['title', 'Red running shoe'],
          ['category', 'red shoe'],
          ['price', 5n],
          ['weight', 1.5],
          ['sold', true],
          ['taken', new Date('2024-01-31')],
        ]),
      );
    });

    it('leave out what has no value', async () => {
      const [hit] = (await find('id:6')).hits;
      expect([...(hit?.document.keys() ?? [])]).toEqual(['id', 'title', 'Robert"); drop table documents; --']);
      expect((await find('id:4')).hits[0]?.document.has('tint_names')).toBe(false);
    });

    it('have the fields that are named, hidden ones only by their whole name', async () => {
      const fieldsOf = async (...fields: string[]) => [
        ...((await find('id:1', { fields })).hits[0]?.document.keys() ?? []),
      ];
      expect(await fieldsOf('id', 'price', 'unknown')).toEqual(['id', 'price']);
      expect(await fieldsOf('*', 'shape_cluster')).toHaveLength(15);
      expect(await fieldsOf('text', 'i\\d')).toEqual(['id']);
      expect(await fieldsOf('shape_descriptor', 'shape_cluster')).toEqual(['shape_descriptor', 'shape_cluster']);
      expect(await fieldsOf()).toEqual([]);
      const { hits } = await find('id:1', { fields: ['shape_descriptor'] });
      expect(hits[0]?.document.get('shape_descriptor')).toBe('1,0,0,0');
    });

    it('count all matches, whatever the page', async () => {
      expect(await find('shoe', { rows: 1 })).toMatchObject({ numFound: 3, numFoundExact: true });
      expect(await find('shoe', { rows: 0 })).toMatchObject({ numFound: 3, hits: [] });
      expect(await find('shoe', { rows: 2, start: 2 })).toMatchObject({ numFound: 3 });
      expect(await find('price:*', { rows: 3, start: 3, sort: parseSort('id asc') })).toMatchObject({ numFound: 5 });
      expect(await find('shoe', { rows: 2, start: 5 })).toMatchObject({ numFound: 3, hits: [] });
      expect(await find('*:*', { rows: 0 })).toMatchObject({ numFound: 6, maxScore: 1 });
    });

    it('come by falling score, then by id', async () => {
      const result = await find('shoe');
      const scores = result.hits.map(({ score }) => score ?? 0);
      expect(ids(result)[0]).toBe('4');
      expect([...scores].sort((a, b) => b - a)).toEqual(scores);
      expect(result.maxScore).toBe(scores[0]);
      expect((await find('shoe', { start: 1 })).maxScore).toBe(scores[0]);
      expect((await find('shoe', { sort: parseSort('id asc'), scores: true, rows: 1 })).maxScore).toBe(scores[0]);
      expect(ids(await find('shoe', { sort: parseSort('score asc') }))[2]).toBe('4');
      expect(ids(await find('shoe id:2^9'))[0]).toBe('2');
      expect((await find('*:*')).hits.map(({ score }) => score)).toEqual([1, 1, 1, 1, 1, 1]);
      expect((await find('price:10^=7', { scores: true })).maxScore).toBe(7);
    });
  });

  describe('sorting', () => {
    it.each([
      ['id desc', '654321'],
      ['price asc', '312456'],
      ['price desc', '524136'],
      ['price desc, id desc', '542136'],
      ['weight asc, id desc', '214653'],
      ['taken desc', '321456'],
      ['sold asc', '213456'],
      ['field(price) desc', '524136'],
      // Of several values the least counts rising and the greatest falling.
      ['labels asc', '123456'],
      ['labels desc, id desc', '213654'],
      ['field(labels,max) asc', '312456'],
      ['field(labels, min) desc', '321456'],
    ])('by %s', async (sort, expected) => {
      expect(ids(await find('*:*', { sort: parseSort(sort) }))).toBe(expected);
    });

    it('at random, but the same for the same seed', async () => {
      const order = async (seed: string) => ids(await find('*:*', { sort: parseSort(`random_${seed} desc`) }));
      const orders = await Promise.all(['1', '2', '3', '99999999999999999999'].map(order));
      expect(new Set(orders).size).toBeGreaterThan(1);
      expect(await order('1')).toBe(orders[0]);
    });

    it.each(['nothing asc', 'field(nothing) asc', 'field(labels,avg) asc', 'location desc', 'text asc'])(
      'refuses %s',
      async (sort) => {
        await expect(find('*:*', { sort: parseSort(sort) })).rejects.toMatchObject({ code: 'bad-request' });
      },
    );

    it.each(['price', 'price up', 'price asc id desc', 'field(labels,max)', 'price asc\\'])(
      'does not read %s',
      (sort) => {
        expect(() => parseSort(sort)).toThrow('expected a name and asc or desc');
      },
    );

    it('refuses hundreds of clauses', () => {
      expect(() => parseSort('price asc,'.repeat(1_000))).toThrow('more than 50');
    });

    it('reads escaped names', () => {
      expect(parseSort('a\\,\\ b desc,c ASC')).toEqual([
        { name: 'a, b', direction: 'desc' },
        { name: 'c', direction: 'asc' },
      ]);
    });
  });

  describe('ranking', () => {
    const vector = Float32Array.from([1, 0, 0, 0]);
    const rank = { module: 'shape', vector };

    it('orders by distance, then id, and matches only what has the descriptor', async () => {
      const result = await find('*:*', { rank });
      expect(ids(result)).toBe('1432');
      expect(result).toMatchObject({ numFound: 4, minDistance: 0 });
      expect(result.hits.map(({ distance }) => distance?.toFixed(2))).toEqual(['0.00', '0.00', '0.89', '1.41']);
      expect(result.hits[0]).not.toHaveProperty('score');
    });

    it('puts the document that asks before its equals', async () => {
      expect(ids(await find('*:*', { rank: { ...rank, firstId: '4' } }))).toBe('4132');
    });

    it('filters, and keeps to the greatest distance', async () => {
      expect(ids(await find('*:*', { rank, fq: ['-id:1'] }))).toBe('432');
      expect(ids(await find('red', { rank }))).toBe('12');
      const near = { ...rank, maxDistance: 1 };
      expect(await find('*:*', { rank: near, rows: 1 })).toMatchObject({ numFound: 3, minDistance: 0 });
      expect(await find('*:*', { rank: near, rows: 0 })).toMatchObject({ numFound: 3, minDistance: 0 });
      expect(await find('*:*', { rank: near, start: 2, rows: 9 })).toMatchObject({ numFound: 3, minDistance: 0 });
      expect(await find('id:2', { rank: near })).toMatchObject({ numFound: 0, hits: [] });
      expect(await find('id:2', { rank: near })).not.toHaveProperty('minDistance');
    });

    it('can be sorted otherwise and still tells distances', async () => {
      const result = await find('*:*', { rank, sort: parseSort('price desc, score desc') });
      expect(ids(result)).toBe('4213');
      expect(result.hits[0]?.distance).toBe(0);
      expect(ids(await find('*:*', { rank, sort: parseSort('score asc') }))).toBe('2314');
    });

    it('can be asked by a document and sorted without the score, or with the score behind the id', async () => {
      for (const sort of ['id desc', 'price asc', 'id asc, score desc', 'random_1 asc', 'score desc, score desc']) {
        expect(
          await find('*:*', { rank: { ...rank, firstId: '4', maxDistance: 1 }, sort: parseSort(sort) }),
        ).toMatchObject({
          numFound: 3,
          minDistance: 0,
        });
      }
    });

    it('refuses vectors of another length and modules without', async () => {
      await expect(find('*:*', { rank: { module: 'shape', vector: new Float32Array(3) } })).rejects.toMatchObject({
        code: 'bad-request',
      });
      await expect(find('*:*', { rank: { module: 'tint', vector } })).rejects.toMatchObject({ code: 'bad-request' });
    });
  });

  describe('cursor marks', () => {
    const everything = async (request: Partial<SearchRequest>) => {
      let found = '';
      let mark = '*';
      for (let page = 0; page < 20; page++) {
        const result = await find('*:*', { ...request, rows: 2, cursorMark: mark });
        found += ids(result);
        expect(result.nextCursorMark).toMatch(/^[\w-]+$|^\*$/);
        if (result.nextCursorMark === mark) return found;
        mark = result.nextCursorMark ?? '';
        if (result.hits.length > 0) expect(result.numFound).toBe(request.rank ? 4 : 6);
      }
      throw new Error('never ended');
    };

    it.each([
      '',
      'price asc',
      'price desc',
      'weight desc, price asc',
      'taken asc',
      'sold desc',
      'title desc',
      'random_7 asc',
      'id desc',
    ])('go through all documents in the order "%s"', async (text) => {
      const sort = parseSort(text);
      expect(await everything({ sort })).toBe(ids(await find('*:*', { sort })));
    });

    it('go through a ranking', async () => {
      const rank = { module: 'shape', vector: Float32Array.from([0.6, 0.8, 0, 0]), firstId: '4' };
      expect(await everything({ rank })).toBe('3241');
    });

    it('are refused with another order, another vector, start, and when they are none', async () => {
      const { nextCursorMark } = await find('*:*', { rows: 2, cursorMark: '*' });
      if (nextCursorMark === undefined) throw new Error('no mark');
      for (const request of [
        { cursorMark: nextCursorMark, sort: parseSort('price asc') },
        { cursorMark: nextCursorMark, rank: { module: 'shape', vector: Float32Array.from([1, 0, 0, 0]) } },
        { cursorMark: nextCursorMark, start: 1 },
        { cursorMark: 'x' },
        { cursorMark: '' },
        { cursorMark: Buffer.from('[1]').toString('base64url') },
      ]) {
        await expect(find('*:*', request)).rejects.toMatchObject({ code: 'bad-request' });
      }
    });
  });

  describe('terms, descriptors and thumbnails', () => {
    it('counts the values of a field', async () => {
      const list = async (request: Parameters<typeof terms>[2]) =>
        (await terms(store, collection, request)).map(({ value, count }) => `${value}:${count}`).join(' ');
      expect(await list({ field: 'labels' })).toBe('red:2 Shoe:1 a%b:1 a_b:1 axb:1');
      expect(await list({ field: 'labels', limit: 2, sort: 'index' })).toBe('Shoe:1 a%b:1');
      expect(await list({ field: 'labels', prefix: 'a_' })).toBe('a_b:1');
      expect(await list({ field: 'price', limit: 1 })).toBe('10:2');
      expect(await list({ field: 'sold' })).toBe('false:1 true:1');
      expect(await list({ field: 'text', prefix: 'sh' })).toBe('shoe:3');
      expect(await list({ field: 'tint_free' })).toBe('0:2 8:2');
      await expect(list({ field: 'nothing' })).rejects.toMatchObject({ code: 'bad-request' });
      await expect(list({ field: 'location' })).rejects.toMatchObject({ code: 'bad-request' });
    });

    it('finds Chinese words that stand apart in a query wherever they stand', async () => {
      const own = await createCollection(store, `apart-${kind}`);
      await accept(store, own, [
        { id: 'a', title: '京都と東京' },
        { id: 'b', title: '東京都' },
      ]);
      await commit(store, own);
      const found = async (q: string) =>
        ids(await search(store, own, { query: parseQuery(q), rows: 10, sort: parseSort('id asc') }));
      expect(await found('{!words f=title}東京 京都')).toBe('ab');
      expect(await found('{!words f=title}東京、京都')).toBe('ab');
      expect(await found('{!words f=title}東京都')).toBe('b');
    });

    it('ranks by descriptors of documents', async () => {
      const read = new Map<string, Float32Array | null | undefined>();
      const { hits } = await search(store, collection, {
        query: { kind: 'all' },
        rows: 1,
        rank: async (stored) => {
          for (const id of ['1', '6', 'gone', 'later']) read.set(id, await stored(id, 'shape'));
          return { module: 'shape', vector: read.get('1') as Float32Array, firstId: '4' };
        },
      });
      expect(read.get('1')).toEqual(Float32Array.from([1, 0, 0, 0]));
      expect(read.get('6')).toBeNull();
      expect(read.get('gone')).toBeUndefined();
      expect(read.get('later')).toBeUndefined();
      expect(hits).toMatchObject([{ id: '4', distance: 0 }]);
      const tint = search(store, collection, {
        query: { kind: 'all' },
        rows: 1,
        rank: async (stored) => ({ module: 'tint', vector: (await stored('1', 'tint')) as Float32Array }),
      });
      await expect(tint).rejects.toMatchObject({ code: 'bad-request' });
    });

    it('ranks by a document as the commit shows it that answers, whatever comes meanwhile', async () => {
      const own = await createCollection(store, `meanwhile-${kind}`);
      const replace = async (shape: number[]) => {
        await accept(store, own, [{ id: 'a', import: testOutputs({ shape }) }]);
        await commit(store, own);
      };
      await replace([1, 0, 0, 0]);
      const answer = await search(store, own, {
        query: { kind: 'all' },
        rows: 1,
        rank: async (stored) => {
          // The embedded database has one transaction at a time, so nothing can come there.
          if (kind === 'postgres') await replace([0, 1, 0, 0]);
          return { module: 'shape', vector: (await stored('a', 'shape')) as Float32Array };
        },
      });
      expect(answer).toMatchObject({ commit: 1, hits: [{ id: 'a', distance: 0 }] });
    });

    it('reads the thumbnail, and tells a document without one from one that is not there', async () => {
      expect(await readThumbnail(store, collection, '1')).toEqual({
        bytes: THUMBNAIL,
        etag: expect.stringMatching(/./),
      });
      expect(await readThumbnail(store, collection, '2')).toBeNull();
      expect(await readThumbnail(store, collection, 'gone')).toBeUndefined();
    });
  });

  describe('hostile requests', () => {
    const hostile = [
      "'",
      '"',
      '\\',
      '%',
      '_',
      "'; drop table documents; --",
      '$1',
      '{}',
      '🙂',
      "\\'",
      ':*',
      '\u2028',
      'ﷺ',
    ];

    it.each(hostile)('finds nothing for %j in any place, and breaks nothing', async (text) => {
      const value = text.replace(/["\\]/g, '\\$&');
      for (const q of [
        `id:"${value}"`,
        `labels:"${value}"`,
        `"${value} never"~3`,
        `{!words f=title v="${value}"}`,
        `title:["${value}" TO "${value}"]`,
        `{!prefix f=title v="${value}"}`,
      ]) {
        expect(await find(q)).toMatchObject({ numFound: 0 });
      }
      expect(await terms(store, collection, { field: 'title', prefix: `${text}x` })).toEqual([]);
      await expect(find('*:*', { sort: [{ name: text, direction: 'asc' }] })).rejects.toMatchObject({
        code: 'bad-request',
      });
      expect((await find('*:*', { fields: [text] })).hits[0]?.document.size).toBe(0);
    });

    it('takes values of a megabyte', async () => {
      const long = 'x'.repeat(1_000_000);
      for (const q of [`id:${long}`, `labels:${long}*`, `title:*${long}`, `title:[${long} TO *]`, `*${long}`]) {
        expect(await find(q, { fq: ['id:1'] })).toMatchObject({ numFound: 0 });
      }
      await expect(find(long)).rejects.toThrow('at most 1000 are allowed');
    });

    it('takes many clauses and deep groups', async () => {
      const many = Array.from({ length: 19_000 }, (_, i) => i).join(' ');
      expect(ids(await find(`id:(${many})`))).toBe('12346');
      expect(ids(await find('*:*', { fq: [`-id:(${many})`] }))).toBe('5');
      expect(ids(await find(`${Array.from({ length: 1_999 }, (_, i) => `w${i}`).join(' ')} roam`))).toBe('5');
      expect(ids(await find(`${'(id:1 OR '.repeat(99)}id:2${')'.repeat(99)}`, { sort: parseSort('id asc') }))).toBe(
        '12',
      );
      expect(ids(await find(`${'-('.repeat(98)}id:2${')'.repeat(98)}`))).toBe('123456');
      expect(ids(await find(`"${'x '.repeat(1000)}"`))).toBe('');
      expect(ids(await find(`"${'x '.repeat(50)}"~5`))).toBe('');
      await expect(find(`"${'x '.repeat(51)}"~5`)).rejects.toThrow('at most 50 words, and this has 51');
    });

    it('takes many clauses in as many groups as may stand inside each other', async () => {
      const level = Array.from({ length: 20 }, (_, i) => `w${i} AND `).join('');
      const query = `${`(${level}`.repeat(99)}roam${')'.repeat(99)}`;
      expect(await find(query, { scores: true })).toMatchObject({ numFound: 0 });
      expect(ids(await find('roam'))).toBe('5');
    });

    it('takes some long fuzzy words and refuses many', async () => {
      const fuzzy = (count: number) =>
        Array.from({ length: count }, (_, i) => `title:${'abcdefgh'.repeat(4)}${i}~2`).join(' ');
      expect(await find(fuzzy(2))).toMatchObject({ numFound: 0 });
      await expect(find(fuzzy(20))).rejects.toThrow('of the dear kind');
    });

    it.each(['*x#*', 'labels:*#x*', 'labels:[# TO #]', '[zz# TO zz#]', 'xyzzy#~1', '"a b#"~2'])(
      'takes some and refuses thousands of %s, each of which goes through all words or values',
      async (clause) => {
        const many = (count: number) =>
          Array.from({ length: count }, (_, i) => clause.replaceAll('#', `${i}`)).join(' ');
        expect(await find(many(40))).toMatchObject({ numFound: 0 });
        await expect(find('*:*', { fq: [many(200), many(200)] })).rejects.toMatchObject({ code: 'bad-request' });
        await expect(find(many(15_000))).rejects.toThrow('more than 256 clauses of the dear kind');
      },
    );
  });

  it('answers from the commit before until the next one, whole', async () => {
    const other = await createCollection(store, 'other');
    const shown = async () => {
      const result = await search(store, other, { query: parseQuery('*:*'), rows: 10, fields: ['n'] });
      return {
        commit: result.commit,
        numFound: result.numFound,
        values: result.hits.map(({ document }) => document.get('n')),
      };
    };
    expect(await shown()).toEqual({ commit: 0, numFound: 0, values: [] });
    await accept(store, other, [{ id: 'a', n: 1 }]);
    expect(await shown()).toEqual({ commit: 0, numFound: 0, values: [] });
    await commit(store, other);
    expect(await shown()).toEqual({ commit: 1, numFound: 1, values: [1n] });
    await accept(store, other, [
      { id: 'a', n: 2 },
      { id: 'b', n: 3 },
    ]);
    expect(await shown()).toEqual({ commit: 1, numFound: 1, values: [1n] });
    await commit(store, other);
    expect(await shown()).toEqual({ commit: 2, numFound: 2, values: [2n, 3n] });
  });
});
