import { type FieldValue, parseQuery } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { ids, searchShop, THUMBNAIL } from '../../test/search-shop.ts';
import { accept, ENGINES, testOutputs } from '../../test/support.ts';
import { commit } from '../changes/commit/commit.ts';
import type { Store } from '../changes/context.ts';
import { createCollection } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';
import { readThumbnail } from './read.ts';
import { search } from './search.ts';
import { parseSort } from './sort.ts';

describe.each(ENGINES)('search on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  const { find } = searchShop(kind, (shop) => {
    ({ store, collection } = shop);
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

    itOnPostgres('leave out what has no value', async () => {
      const [hit] = (await find('id:6')).hits;
      expect([...(hit?.document.keys() ?? [])]).toEqual(['id', 'title', 'Robert"); drop table documents; --']);
      expect((await find('id:4')).hits[0]?.document.has('tint_names')).toBe(false);
    });

    itOnPostgres('have the fields that are named, hidden ones only by their whole name', async () => {
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

    itOnPostgres('count all matches, whatever the page', async () => {
      expect(await find('shoe', { rows: 1 })).toMatchObject({ numFound: 3, numFoundExact: true });
      expect(await find('shoe', { rows: 0 })).toMatchObject({ numFound: 3, hits: [] });
      expect(await find('shoe', { rows: 2, start: 2 })).toMatchObject({ numFound: 3 });
      expect(await find('price:*', { rows: 3, start: 3, sort: parseSort('id asc') })).toMatchObject({ numFound: 5 });
      expect(await find('shoe', { rows: 2, start: 5 })).toMatchObject({ numFound: 3, hits: [] });
      expect(await find('*:*', { rows: 0 })).toMatchObject({ numFound: 6, maxScore: 1 });
    });

    itOnPostgres('come by falling score, then by id', async () => {
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

  describe('words, descriptors and thumbnails', () => {
    itOnPostgres('finds Chinese words that stand apart in a query wherever they stand', async () => {
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

    itOnPostgres('ranks by descriptors of documents', async () => {
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
      let times = 0;
      const replace = async () => {
        const shape = [0, 0, 0, 0].fill(1, times, ++times);
        await accept(store, own, [{ id: 'a', import: testOutputs({ shape }) }]);
        await commit(store, own);
      };
      await replace();
      // The vectors are read, which would end the transaction and begin another one.
      await search(store, own, {
        query: { kind: 'all' },
        rank: { module: 'shape', vector: Float32Array.from([1, 0, 0, 0]) },
        rows: 1,
      });
      const result = await search(store, own, {
        query: { kind: 'all' },
        rows: 1,
        rank: async (stored) => {
          // The embedded database has one transaction at a time, so nothing can come there.
          if (kind === 'postgres') await replace();
          return { module: 'shape', vector: (await stored('a', 'shape')) as Float32Array };
        },
      });
      // A commit that comes between its first statements has it begin again, and none after that.
      expect([times, result]).toMatchObject(kind === 'postgres' ? [3, { commit: 2 }] : [1, { commit: 1 }]);
      expect(result.hits).toMatchObject([{ id: 'a', distance: 0 }]);
    });

    it('reads the thumbnail, and tells a document without one from one that is not there', async () => {
      const thumbnail = await readThumbnail(store, collection, '1');
      expect(thumbnail?.etag).toMatch(/./);
      expect(thumbnail?.bytes).toEqual(THUMBNAIL);
      expect(await readThumbnail(store, collection, '2')).toBeNull();
      expect(await readThumbnail(store, collection, 'gone')).toBeUndefined();
    });
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
