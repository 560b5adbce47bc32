import type { SearchResponse } from '@akin/client';
import { describe, expect, it } from '@jest/globals';
import {
  chosenRange,
  histogramsOf,
  loadRanges,
  type RangeField,
  rangeFacet,
  rangeFieldsOf,
  rangeFilter,
  scaleOf,
  valueAt,
} from './ranges.ts';

const PRICE: RangeField = { name: 'unit price', type: 'double', min: 11.9, max: 119.9 };
const day = (text: string) => Date.parse(`${text}T00:00:00Z`);
const RELEASED: RangeField = { name: 'released', type: 'date', min: day('2019-01-05'), max: day('2024-06-01') };

it('takes numbers and dates of documents, the most useful ones first', () => {
  const field = (name: string, type: string, origin = 'document') => ({ name, type, origin, multiValued: false });
  const all = [field('color_cluster', 'long', 'analysis'), field('city', 'string'), field('taken', 'date')];
  const shop = ['width', 'stock', 'Unit price', 'created_at', 'bytes'].map((name) => field(name, 'long'));
  expect(rangeFieldsOf([...shop, ...all, field('season', 'date')]).map(({ name }) => name)).toEqual([
    'taken',
    'Unit price',
    'created_at',
    'season',
    'stock',
    'width',
    'bytes',
  ]);
});

it('asks for the bounds of fields until enough of them have two values', async () => {
  const fields = Array.from({ length: 20 }, (_, i) => ({ name: `n${i}`, type: 'long' as const }));
  const asked: string[] = [];
  const select = async ({ fl, sort }: { fl: string; sort: string }) => {
    asked.push(fl);
    // The first five have one value.
    const value = Number(fl.slice(1)) < 5 || sort.endsWith('asc') ? 1 : 2;
    return { response: { docs: [{ [fl]: value }] } };
  };
  const found = await loadRanges({ select } as never, fields, new AbortController().signal);
  expect(found.map(({ name }) => name)).toEqual(['n5', 'n6', 'n7', 'n8', 'n9', 'n10', 'n11', 'n12']);
  expect(new Set(asked).size).toBe(16);
});

it.each([
  [PRICE, 10, 2, 120],
  [{ ...PRICE, type: 'long', min: 3, max: 9 }, 3, 1, 9],
  [{ ...PRICE, min: -0.31, max: 0.305 }, -0.31, 0.01, 0.31],
  [{ ...PRICE, type: 'long', min: -7_000_000, max: 12_000_000 }, -7_000_000, 200_000, 12_000_000],
  [RELEASED, day('2019-01-05'), 86_400_000, day('2024-06-01')],
  [{ ...RELEASED, max: RELEASED.min + 50_000 }, RELEASED.min, 1_000, RELEASED.min + 50_000],
] as [RangeField, number, number, number][])('gives %j round places', (field, start, step, end) => {
  const scale = scaleOf(field);
  expect(scale.start).toBeCloseTo(start);
  expect([scale.step, valueAt(scale, 0), valueAt(scale, scale.steps)]).toEqual([step, start, end]);
});

describe('bounds', () => {
  it.each([
    [PRICE, { from: 20, to: null }, 'unit\\ price:[20 TO *]'],
    [{ ...PRICE, name: 'Price, EUR' }, { from: 20, to: 30 }, 'Price\\,\\ EUR:[20 TO 30]'],
    [PRICE, { from: null, to: 0.3 }, 'unit\\ price:[* TO 0.3]'],
    [RELEASED, { from: day('2020-01-01'), to: day('2020-12-31') }, 'released:[2020-01-01 TO 2020-12-31]'],
    [RELEASED, { from: day('2020-01-01') + 1_000, to: null }, 'released:[2020-01-01T00:00:01.000Z TO *]'],
  ])('are a filter, and are read from it', (field, range, filter) => {
    expect(rangeFilter(field, range)).toBe(filter);
    expect(chosenRange(['labels:"x"', filter], field)).toEqual(range);
  });

  it('are none for nothing, and foreign ones are not parsed', () => {
    expect(rangeFilter(PRICE, { from: null, to: null })).toBeUndefined();
    for (const filter of ['released:[NOW-1DAY TO *]', 'released:{2020 TO 2021}', 'released:"x"', 'price:[1 TO 2]'])
      expect(chosenRange([filter], RELEASED)).toEqual({ from: null, to: null });
  });
});

it('counts values for a histogram, without the chosen range', () => {
  expect(rangeFacet(PRICE, 2, true)).toBe(
    "{!key=r2 ex=r2 facet.mincount=0 facet.range.start='10' facet.range.end='124' facet.range.gap='6'}unit price",
  );
  expect(rangeFacet(RELEASED, 0, false)).toContain("facet.range.start='2019-01-05'");
  expect(rangeFacet(RELEASED, 0, false)).toContain("facet.range.gap='+8553600SECONDS'");
  const body = { facet_counts: { facet_ranges: { r0: { counts: ['10', 3, '16', 0] } } } } as unknown as SearchResponse;
  expect(histogramsOf(body, [PRICE])).toEqual(new Map([['unit price', [3, 0]]]));
});
