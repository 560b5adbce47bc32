import { parseQuery } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { facetShop, print, show } from '../../test/facet-shop.ts';
import { ENGINES } from '../../test/support.ts';
import type { RangeFacet } from './facet-request.ts';
import type { SearchRequest } from './request.ts';

describe.each(ENGINES)('facets on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  const { count } = facetShop(kind);

  describe('of ranges', () => {
    const byRange = (
      field: string,
      start: string,
      end: string,
      gap: string,
      facet: Partial<RangeFacet> = {},
    ): RangeFacet => ({
      kind: 'range',
      field,
      start,
      end,
      gap,
      hardEnd: false,
      mincount: 0,
      include: new Set(['lower']),
      other: new Set(),
      ...facet,
    });
    const ranges = async (facet: RangeFacet, request: Partial<SearchRequest> = {}) => {
      const [result] = await count([facet], request);
      if (result?.kind !== 'range') throw new Error('no ranges');
      return result;
    };

    it('of Longs, Doubles and dates', async () => {
      expect(await ranges(byRange('price', '0', '40', '10'))).toEqual({
        kind: 'range',
        counts: [
          { value: 0n, count: 0 },
          { value: 10n, count: 1 },
          { value: 20n, count: 2 },
          { value: 30n, count: 1 },
        ],
        gap: 10n,
        start: 0n,
        end: 40n,
      });
      expect(print(await ranges(byRange('weight', '0.5', '2', '0.5')))).toBe('0.5:1 1:1 1.5:1');
      const months = await ranges(byRange('taken', '2024-01-01', '2024-05-01', '+1MONTH'));
      expect(months.counts.map(({ count: n }) => n)).toEqual([1, 1, 1, 0]);
      expect(months).toMatchObject({ gap: '+1MONTH', start: new Date('2024-01-01'), end: new Date('2024-05-01') });
      expect(
        print(await ranges(byRange('price', '0', '40', '10', { mincount: 1 }), { query: parseQuery('sold:*') })),
      ).toBe('10:1 20:2');
    });

    it('in the calendar of the time zone, relative to NOW', async () => {
      const facet = byRange('taken', 'NOW/MONTH-2MONTHS', 'NOW/MONTH+1MONTH', ' 1MONTH');
      const now = new Date('2024-03-15T12:00:00Z');
      const berlin = await ranges(facet, { now, timeZone: 'Europe/Berlin' });
      expect(berlin.counts.map(({ value }) => show(value))).toEqual([
        '2023-12-31T23:00:00.000Z',
        '2024-01-31T23:00:00.000Z',
        '2024-02-29T23:00:00.000Z',
      ]);
      expect(berlin.counts.map(({ count: n }) => n)).toEqual([1, 1, 1]);
      const utc = await ranges(facet, { now });
      expect(utc.counts.map(({ value }) => show(value).slice(0, 10))).toEqual([
        '2024-01-01',
        '2024-02-01',
        '2024-03-01',
      ]);
    });

    itOnPostgres('whose last one is truncated, or not', async () => {
      const open = await ranges(byRange('price', '5', '32', '10', { other: new Set(['after']) }));
      expect([print(open), open.end, open.after]).toEqual(['5:1 15:2 25:0', 35n, 1]);
      const hard = await ranges(byRange('price', '5', '32', '20', { hardEnd: true, other: new Set(['after']) }));
      expect([print(hard), hard.end, hard.after]).toEqual(['5:3 25:0', 32n, 1]);
    });

    itOnPostgres('with the bounds that belong to them, and what is around', async () => {
      const countsFor = async (include: string[], other = 'all') => {
        const { counts, before, between, after } = await ranges(
          byRange('price', '10', '30', '10', { include: new Set(include) as never, other: new Set([other]) as never }),
        );
        return [...counts.map(({ count: n }) => n), before, between, after];
      };
      // One document has 10, two have 20, one has 35.
      expect(await countsFor(['lower'])).toEqual([1, 2, 0, 3, 1]);
      expect(await countsFor(['upper'])).toEqual([2, 0, 1, 2, 1]);
      expect(await countsFor(['edge'])).toEqual([1, 0, 0, 3, 1]);
      expect(await countsFor(['outer'])).toEqual([0, 0, 1, 2, 1]);
      expect(await countsFor(['lower', 'outer'])).toEqual([1, 2, 1, 3, 1]);
      expect(await countsFor(['all'])).toEqual([3, 2, 1, 3, 1]);
      expect(await countsFor(['lower'], 'none')).toEqual([1, 2, undefined, undefined, undefined]);
      expect(await countsFor(['lower'], 'before')).toEqual([1, 2, 0, undefined, undefined]);
      const empty = await ranges(byRange('price', '20', '20', '1', { other: new Set(['all']) }));
      expect(empty).toMatchObject({ counts: [], before: 1, between: 0, after: 3, start: 20n, end: 20n });
    });

    itOnPostgres('of lists, where a document counts once in each range', async () => {
      // Two documents have 0.25 and 0.75, and 0 and 8.
      const counted = async (field: string, [start, end, gap]: readonly [string, string, string], include: string) => {
        const facet = { include: new Set([include]), other: new Set(['all']) } as never;
        const { counts, before, between, after } = await ranges(byRange(field, start, end, gap, facet));
        return [...counts.map(({ count: n }) => n), before, between, after];
      };
      expect(await counted('tint_freq', ['0', '1', '1'], 'lower')).toEqual([2, 0, 2, 0]);
      expect(await counted('tint_freq', ['0.25', '1.25', '0.5'], 'lower')).toEqual([2, 2, 0, 2, 0]);
      expect(await counted('tint_freq', ['0.25', '1.25', '0.5'], 'all')).toEqual([2, 2, 2, 2, 0]);
      expect(await counted('tint_free', ['0', '8', '4'], 'lower')).toEqual([2, 0, 0, 2, 2]);
      expect(await counted('tint_free', ['0', '8', '4'], 'upper')).toEqual([0, 2, 2, 2, 0]);
      expect(await counted('tint_free', ['0', '8', '4'], 'all')).toEqual([2, 2, 2, 2, 2]);
    });

    itOnPostgres.each<[string, string, string, string, string]>([
      ['price', '0', '10', '0', 'leads to no greater value'],
      ['price', '0', '10', '-1', 'leads to no greater value'],
      ['price', '10', '0', '1', 'comes before start'],
      ['price', '0', '10', '1.5', 'gap "1.5" is not a Long'],
      ['price', 'a', '10', '1', 'start "a" is not a Long'],
      ['price', '0', '100000', '1', 'more than 10000 ranges'],
      ['price', '0', '9223372036854775807', '9223372036854775800', 'leads to no greater value'],
      ['weight', '1e300', '2e300', '1', 'leads to no greater value'],
      ['weight', '0', '1e308', '1e307x', 'is not a number'],
      ['taken', '2024-01-01', 'NOW', '1DAY', 'gap "1DAY" is not a step: write it as +1DAY'],
      ['taken', '2024-01-01', 'NOW', '+0DAYS', 'leads to no greater value'],
      ['taken', '2024-01-01', '2024-02-30', '+1DAY', 'end "2024-02-30" is not a date'],
      ['taken', '0001-01-01', '9999-01-01', '+1DAY', 'more than 10000 ranges'],
      ['category', 'a', 'b', 'c', 'it is a string'],
      ['location', '0', '9', '1', 'it is a location'],
      ['prise', '0', '9', '1', 'did you mean "price"'],
    ])('refuses %s from %s to %s by %s', async (field, start, end, gap, problem) => {
      await expect(count([byRange(field, start, end, gap)])).rejects.toThrow(problem);
    });
  });
});
