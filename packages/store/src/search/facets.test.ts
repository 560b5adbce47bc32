import { createRandom, parseQuery, type Query } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { facetShop, print } from '../../test/facet-shop.ts';
import { accept, ENGINES } from '../../test/support.ts';
import { commit } from '../changes/commit/commit.ts';
import type { Store } from '../changes/context.ts';
import { createCollection } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';
import type { FacetRequest, FieldFacet } from './facet-request.ts';
import type { SearchRequest } from './request.ts';
import { search } from './search.ts';

describe.each(ENGINES)('facets on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  const { count } = facetShop(kind, (shop) => {
    ({ store, collection } = shop);
  });
  const byField = (field: string, facet: Partial<FieldFacet> = {}): FieldFacet => ({
    kind: 'field',
    field,
    limit: 100,
    offset: 0,
    mincount: 1,
    sort: 'count',
    missing: false,
    ...facet,
  });
  const list = async (field: string, facet: Partial<FieldFacet> = {}, request: Partial<SearchRequest> = {}) =>
    print((await count([byField(field, facet)], request))[0]);

  describe('of fields', () => {
    it('lists both values of a Boolean, counted or not', async () => {
      expect(await list('sold', { mincount: 0 }, { filters: [parseQuery('category:Shoe')] })).toBe('false:1 true:1');
      expect(await list('sold', { mincount: 0 }, { filters: [parseQuery('category:hat')] })).toBe('true:1 false:0');
      expect(await list('sold', { mincount: 0, offset: 1 })).toBe('false:1');
    });

    itOnPostgres.each<[string, Partial<FieldFacet>, string]>([
      ['labels', {}, 'red:2 100%:1 Straße:1 a_b:1 axb:1 shoe:1 école:1'],
      ['labels', { sort: 'index' }, '100%:1 Straße:1 a_b:1 axb:1 red:2 shoe:1 école:1'],
      ['labels', { limit: 2 }, 'red:2 100%:1'],
      ['labels', { limit: 2, offset: 1 }, '100%:1 Straße:1'],
      ['labels', { limit: 0 }, ''],
      ['labels', { limit: undefined, mincount: 2 }, 'red:2'],
      ['labels', { prefix: 'a_' }, 'a_b:1'],
      ['labels', { prefix: 'ÉCOLE' }, ''],
      ['labels', { contains: '%' }, '100%:1'],
      ['labels', { contains: 'B' }, ''],
      ['labels', { contains: 'B', ignoreCase: true }, 'a_b:1 axb:1'],
      ['labels', { contains: 'ÉCO', ignoreCase: true }, 'école:1'],
      ['labels', { except: ['red', '100%'], limit: 2 }, 'Straße:1 a_b:1'],
      ['labels', { only: ['shoe', 'none', 'red'], sort: 'listed', limit: 1, mincount: 5 }, 'shoe:1 none:0 red:2'],
      ['labels', { only: ['shoe', 'none', 'red'], sort: 'count' }, 'red:2 shoe:1 none:0'],
      ['labels', { only: ['shoe', 'none', 'red'], sort: 'index' }, 'none:0 red:2 shoe:1'],
      ['category', {}, 'Shoe:2 hat:2 zoo:1'],
      ['id', { limit: 3 }, '1:1 2:1 3:1'],
      ['price', {}, '20:2 10:1 35:1'],
      ['price', { sort: 'index' }, '10:1 20:2 35:1'],
      ['weight', {}, '0.5:1 1:1 1.5:1'],
      ['sold', {}, 'true:2 false:1'],
      ['taken', { limit: 1 }, '2024-01-31T00:00:00.000Z:1'],
      ['tint_names', {}, 'red:2 white:1'],
      ['tint_free', {}, '0:2 8:2'],
      ['text', { prefix: 'éco', limit: 3 }, ''],
      ['text', { prefix: 'eco' }, 'ecole:2'],
    ])('%s %j', async (field, facet, expected) => {
      expect(await list(field, facet)).toBe(expected);
    });

    itOnPostgres('count what matches, and with mincount 0 tell of what does not', async () => {
      const request = { query: parseQuery('category:Shoe'), filters: [parseQuery('sold:true')] };
      expect(await list('labels', {}, request)).toBe('red:1 shoe:1');
      expect(await list('labels', { mincount: 0 }, request)).toBe('red:1 shoe:1 100%:0 Straße:0 a_b:0 axb:0 école:0');
      expect(await list('labels', { mincount: 0, limit: 2 }, request)).toBe('red:1 shoe:1');
      expect(await list('labels', { mincount: 0, limit: 2, offset: 1 }, request)).toBe('shoe:1 100%:0');
      expect(await list('labels', { mincount: 0, sort: 'index', limit: 5 }, request)).toBe(
        '100%:0 Straße:0 a_b:0 axb:0 red:1',
      );
      expect(await list('sold', { mincount: 0 }, request)).toBe('true:1 false:0');
      expect(await list('labels', { mincount: 0, prefix: 'a' }, request)).toBe('a_b:0 axb:0');
      expect(await list('labels', { mincount: 0 }, { query: parseQuery('id:none') })).toContain('red:0');
      const [price] = await count([byField('price', { mincount: 0 })], request);
      expect(price).toEqual({ kind: 'field', counts: [{ value: 10n, count: 1 }], withoutZeros: true });
    });

    itOnPostgres('count the documents without a value', async () => {
      const missing = async (field: string, q = '*:*') => {
        const [result] = await count([byField(field, { missing: true, limit: 0 })], { query: parseQuery(q) });
        return result?.kind === 'field' ? result.missing : undefined;
      };
      expect(await missing('labels')).toBe(2);
      expect(await missing('category')).toBe(1);
      expect(await missing('tint_names')).toBe(4);
      expect(await missing('labels', 'category:hat')).toBe(1);
      expect(await missing('price', 'id:1')).toBe(0);
      expect((await count([byField('labels')]))[0]).not.toHaveProperty('missing');
    });

    itOnPostgres.each<[string, Partial<FieldFacet>, string]>([
      ['categry', {}, 'did you mean "category"'],
      ['location', {}, '"location" is a location'],
      ['shape_descriptor', {}, '"shape_descriptor" is a string'],
      ['price', { prefix: '1' }, 'prefix is for Strings, and "price" is a long'],
      ['tint_free', { contains: '1' }, 'contains is for Strings'],
    ])('are refused for %s %j', async (field, facet, problem) => {
      await expect(list(field, facet)).rejects.toThrow(problem);
    });
  });

  itOnPostgres('count what matches other queries', async () => {
    const matches = (q: string): FacetRequest => ({ kind: 'query', query: parseQuery(q) });
    const facets = ['price:[15 TO *]', 'labels:red', '-labels:red', 'École', 'id:none', '*:*'].map(matches);
    expect((await count(facets)).map(print)).toEqual(['3', '2', '4', '2', '0', '6']);
    expect((await count(facets, { query: parseQuery('category:hat') })).map(print)).toEqual([
      '1',
      '0',
      '2',
      '2',
      '0',
      '2',
    ]);
    await expect(count([matches('nothing:1')])).rejects.toThrow('no document has a field');
  });

  itOnPostgres('leave out filters that a person may still change, each as it says', async () => {
    const [query, shoe, sold] = ['*:*', 'category:Shoe', 'sold:true'].map((q) => parseQuery(q)) as [
      Query,
      Query,
      Query,
    ];
    const request = { query, filters: [shoe, sold] };
    const results = await count(
      [
        byField('category'),
        byField('category', {}),
        { ...byField('category'), excludedQueries: new Set([shoe]) },
        { ...byField('sold'), excludedQueries: new Set([sold]) },
        { kind: 'query', query: parseQuery('price:20'), excludedQueries: new Set([shoe, sold]) },
        { ...byField('sold'), excludedQueries: new Set([sold, shoe]) },
      ],
      request,
    );
    expect(results.map(print)).toEqual(['Shoe:1', 'Shoe:1', 'Shoe:1 hat:1', 'false:1 true:1', '2', 'true:2 false:1']);
    const excludedQueries = new Set([query]);
    expect((await count([{ ...byField('id'), excludedQueries }], { query: parseQuery('id:1') })).map(print)).toEqual([
      '1:1',
    ]);
    const only = parseQuery('id:1');
    expect(
      (await count([{ ...byField('sold'), excludedQueries: new Set([only]) }], { query: only })).map(print),
    ).toEqual(['true:2 false:1']);
  });

  it('count over what is alike', async () => {
    const rank = { module: 'shape', vector: Float32Array.from([1, 0, 0, 0]) };
    const facets: FacetRequest[] = [
      byField('category'),
      byField('labels', { mincount: 0, limit: 3, missing: true }),
      { kind: 'query', query: parseQuery('price:20') },
    ];
    expect((await count(facets, { rank })).map(print)).toEqual(['Shoe:2 hat:1 zoo:1', 'red:2 100%:1 Straße:1', '2']);
    const near = { ...rank, maxDistance: 1 };
    const result = await search(store, collection, { query: parseQuery('*:*'), rows: 1, rank: near, facets });
    expect(result.numFound).toBe(2);
    expect(result.facets.map(print)).toEqual(['Shoe:2', 'red:2 Straße:1 shoe:1', '1']);
    expect((await count(facets, { rank: near, filters: [parseQuery('sold:false')] })).map(print)).toEqual([
      'Shoe:1',
      'Straße:1 red:1 100%:0',
      '1',
    ]);
  });

  it('agree with counting by hand, whatever is asked', async () => {
    const other = await createCollection(store, 'many');
    const random = createRandom(3);
    const pick = (n: number) => Math.floor(random() * n);
    const documents = Array.from({ length: 400 }, (_, i) => ({
      id: `d${i}`,
      kind2: `k${pick(7)}`,
      labels: Array.from({ length: pick(5) }, () => `l${pick(12)}`),
      n: pick(50) - 10,
      ...(pick(3) === 0 ? {} : { x: pick(100) / 4 }),
    }));
    await accept(store, other, documents);
    await commit(store, other);
    const tally = (values: readonly string[]) => {
      const counts = new Map<string, number>();
      for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
      return [...counts]
        .sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1))
        .map(([value, n]) => `${value}:${n}`)
        .join(' ');
    };
    for (const [q, keeps] of [
      ['*:*', () => true],
      ['kind2:k3', (d) => d.kind2 === 'k3'],
      ['n:[0 TO 20] -labels:l5', (d) => d.n >= 0 && d.n <= 20 && !d.labels.includes('l5')],
    ] as [string, (d: (typeof documents)[number]) => boolean][]) {
      const kept = documents.filter(keeps);
      const { facets } = await search(store, other, {
        query: parseQuery(q, { defaultOperator: 'AND' }),
        rows: 0,
        facets: [
          byField('labels'),
          byField('kind2'),
          {
            kind: 'range',
            field: 'x',
            start: '0',
            end: '25',
            gap: '2.5',
            hardEnd: false,
            mincount: 0,
            include: new Set(['lower']),
            other: new Set(['between']),
          },
        ],
      });
      expect(print(facets[0])).toBe(tally(kept.flatMap(({ labels }) => [...new Set(labels)])));
      expect(print(facets[1])).toBe(tally(kept.map(({ kind2 }) => kind2)));
      const x = kept.flatMap((document) => ('x' in document ? [document.x as number] : []));
      expect(facets[2]).toMatchObject({
        counts: Array.from({ length: 10 }, (_, i) => ({
          value: i * 2.5,
          count: x.filter((value) => value >= i * 2.5 && value < (i + 1) * 2.5).length,
        })),
        between: x.length,
      });
    }
  });

  describe('of hostile requests', () => {
    it.each(["'", '%', '_', '\\', "'); drop table documents; --", '$1', '🙂'])('find nothing for %j', async (text) => {
      expect(await list('labels', { prefix: `${text}z` })).toBe('');
      expect(await list('labels', { contains: `z${text}z`, ignoreCase: true })).toBe('');
      expect(await list('labels', { only: [text], sort: 'listed' })).toBe(`${text}:0`);
      expect(await list('labels', { except: [text], limit: 1 })).toBe('red:2');
      await expect(list(`${text}z`)).rejects.toMatchObject({ code: 'bad-request' });
    });

    it('are refused when there are hundreds, or more values than a result holds', async () => {
      await expect(count(Array.from({ length: 201 }, () => byField('id')))).rejects.toThrow('at most 200 facets');
      expect(await count(Array.from({ length: 200 }, () => byField('id')))).toHaveLength(200);
      const huge = byField('id', { limit: Number.MAX_SAFE_INTEGER, offset: Number.MAX_SAFE_INTEGER });
      expect((await count([huge])).map(print)).toEqual(['']);
    });
  });
});
