import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { ids, searchShop } from '../../test/search-shop.ts';
import { ENGINES } from '../../test/support.ts';
import type { SearchRequest } from './request.ts';
import { parseSort } from './sort.ts';

describe.each(ENGINES)('search on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  const { find } = searchShop(kind);

  describe('sorting', () => {
    itOnPostgres.each([
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

    itOnPostgres.each(['nothing asc', 'field(nothing) asc', 'field(labels,avg) asc', 'location desc', 'text asc'])(
      'refuses %s',
      async (sort) => {
        await expect(find('*:*', { sort: parseSort(sort) })).rejects.toMatchObject({ code: 'bad-request' });
      },
    );

    itOnPostgres.each(['price', 'price up', 'price asc id desc', 'field(labels,max)', 'price asc\\'])(
      'does not read %s',
      (sort) => {
        expect(() => parseSort(sort)).toThrow('expected a name and asc or desc');
      },
    );

    itOnPostgres('refuses hundreds of clauses', () => {
      expect(() => parseSort('price asc,'.repeat(1_000))).toThrow('more than 50');
    });

    itOnPostgres('reads escaped names', () => {
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

    itOnPostgres('puts the document that asks before its equals', async () => {
      expect(ids(await find('*:*', { rank: { ...rank, firstId: '4' } }))).toBe('4132');
    });

    itOnPostgres('filters, and keeps to the greatest distance', async () => {
      expect(ids(await find('*:*', { rank, fq: ['-id:1'] }))).toBe('432');
      expect(ids(await find('red', { rank }))).toBe('12');
      const near = { ...rank, maxDistance: 1 };
      expect(await find('*:*', { rank: near, rows: 1 })).toMatchObject({ numFound: 3, minDistance: 0 });
      expect(await find('*:*', { rank: near, rows: 0 })).toMatchObject({ numFound: 3, minDistance: 0 });
      expect(await find('*:*', { rank: near, start: 2, rows: 9 })).toMatchObject({ numFound: 3, minDistance: 0 });
      expect(await find('id:2', { rank: near })).toMatchObject({ numFound: 0, hits: [] });
      expect(await find('id:2', { rank: near })).not.toHaveProperty('minDistance');
    });

    itOnPostgres('can be sorted otherwise and still tells distances', async () => {
      const result = await find('*:*', { rank, sort: parseSort('price desc, score desc') });
      expect(ids(result)).toBe('4213');
      expect(result.hits[0]?.distance).toBe(0);
      expect(ids(await find('*:*', { rank, sort: parseSort('score asc') }))).toBe('2314');
    });

    itOnPostgres(
      'can be asked by a document and sorted without the score, or with the score behind the id',
      async () => {
        for (const sort of ['id desc', 'price asc', 'id asc, score desc', 'random_1 asc', 'score desc, score desc']) {
          expect(
            await find('*:*', { rank: { ...rank, firstId: '4', maxDistance: 1 }, sort: parseSort(sort) }),
          ).toMatchObject({
            numFound: 3,
            minDistance: 0,
          });
        }
      },
    );

    itOnPostgres('refuses vectors of another length and modules without', async () => {
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

    itOnPostgres.each([
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

    itOnPostgres('are refused with another order, another vector, start, and when they are none', async () => {
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
});
