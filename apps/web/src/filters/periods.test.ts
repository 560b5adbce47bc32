import type { SearchResponse } from '@akin/client';
import { expect, it } from '@jest/globals';
import { dateOrder, monthHeadings, periodFacet, periodsOf } from './periods.ts';
import type { RangeField } from './ranges.ts';

const instant = (text: string) => Date.parse(text);
const TAKEN: RangeField = {
  name: 'taken',
  type: 'date',
  min: instant('2021-03-15T10:00:00Z'),
  max: instant('2024-12-31T23:59:59Z'),
};
const IN_2024: RangeField = { ...TAKEN, min: instant('2024-02-29T10:00:00Z') };
const bodyOf = (counts: unknown[]) =>
  ({ facet_counts: { facet_ranges: { periods: { counts } } } }) as unknown as SearchResponse;

it.each([
  ['taken desc', { field: TAKEN, isNewestFirst: true }],
  ['taken asc', { field: TAKEN, isNewestFirst: false }],
  ['price asc', undefined],
  ['', undefined],
  ['taken', undefined],
])('finds the date field of the order %j', (sort, order) => {
  expect(dateOrder(sort, [{ ...TAKEN, name: 'price', type: 'double' }, TAKEN])).toEqual(order);
});

it.each([
  [
    ['2024-02-03T10:00:00Z', '2024-02-01T10:00:00Z', '2023-12-31T23:00:00Z', undefined, undefined],
    [0, 2, 3],
  ],
  [['2024-02-03T10:00:00.250Z'], [0]],
  [[undefined, '2024-02-03T10:00:00Z'], []],
  [['soon', '2024'], []],
  [[], []],
])('puts headings above the first picture of each month of %j', (dates, indexes) => {
  const documents = dates.map((day, i) => ({ id: `${i}`, 'day taken': day as string }));
  const headings = monthHeadings(documents, 'day\\ taken desc');
  expect([...headings.keys()]).toEqual(indexes);
  expect(headings.get(0) ?? 'February 2024').toBe('February 2024');
  expect(monthHeadings(documents, '')).toEqual(new Map());
});

it('counts years of a long time, and months of a short one', () => {
  expect(periodFacet(TAKEN, 0, false)).toBe(
    "{!key=periods facet.mincount=1 facet.range.start='2021-01-01T00:00:00.000Z' facet.range.end='2025-01-01T00:00:00.000Z' facet.range.gap='+1YEAR'}taken",
  );
  expect(periodFacet(IN_2024, 3, true)).toMatch(/^\{!key=periods ex=r3 .*start='2024-02-01T.*\+1MONTH'\}taken$/);
  const counts = ['2023-01-01T00:00:00Z', 7, '2024-01-01T00:00:00Z', 0];
  const year = { start: instant('2023-01-01'), end: instant('2024-01-01'), count: 7 };
  expect(periodsOf(bodyOf(counts), TAKEN)).toEqual([year]);
  const december = { start: instant('2024-12-01'), end: instant('2025-01-01'), count: 2 };
  expect(periodsOf(bodyOf(['2024-12-01T00:00:00Z', 2]), IN_2024)).toEqual([december]);
});
