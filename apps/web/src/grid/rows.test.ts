import { describe, expect, it } from '@jest/globals';
import { justify, type Row, renderedRange, shownRatio, tile, withHeadings } from './rows.ts';

describe('rows of pictures', () => {
  const ratios = [1.5, 0.7, 1, 40, 0.01, 1.3, 1.3, 0.8, 2, 1];
  const [width, height, gap] = [1_000, 200, 8];

  it('contain each picture once, are as wide as the page and about as high as requested', () => {
    const rows = justify(ratios, width, height, gap);
    expect(rows.map(({ from, to }) => [from, to])).toEqual([
      [0, 4],
      [4, 9],
      [9, 10],
    ]);
    for (const { from, to, height: own } of rows.slice(0, -1)) {
      const sum = ratios.slice(from, to).reduce((all, ratio) => all + shownRatio(ratio) * own, 0);
      expect(sum + gap * (to - from - 1)).toBeCloseTo(width);
      expect(own).toBeLessThanOrEqual(height);
    }
    expect(rows.at(-1)?.height).toBe(height);
  });

  it('of one picture on a narrow page are there too', () => {
    expect(justify([2.5], 100, 200, gap)).toEqual([{ from: 0, to: 1, height: 40 }]);
    expect(justify([], 100, 200, gap)).toEqual([]);
  });
});

describe('of a long list', () => {
  const rows: Row[] = tile(100_000, 6, 270);
  const all = rows.length * 280;

  it.each([
    ['the beginning', -500, 2_000],
    ['the middle', 1_000_000, 1_003_000],
    ['the end', all - 900, all + 2_000],
    ['what lies beyond it', all + 9_000, all + 12_000],
    ['what lies before it', -9_000, -8_000],
  ])('%s is drawn, and the rest takes as much room as it would', (_, top, bottom) => {
    const { from, to, before, spaceAfter } = renderedRange(rows, 10, top, bottom);
    expect(from % 6).toBe(0);
    expect(to).toBeGreaterThan(from);
    expect(to - from).toBeLessThan(120);
    expect(before + Math.ceil((to - from) / 6) * 280 + spaceAfter).toBe(all);
    if (top > 0 && bottom < all) expect([before <= top, all - spaceAfter >= bottom]).toEqual([true, true]);
  });

  it('renders nothing for an empty list', () => {
    expect(renderedRange([], 10, 0, 900)).toEqual({ from: 0, to: 0, before: 0, spaceAfter: 0 });
  });
});

describe('lists with headings', () => {
  const rows = withHeadings(7, [0, 3], 40, (from, to) => tile(to - from, 2, 100));

  it('begin with a row of their own', () => {
    expect(rows).toEqual([
      { from: 0, to: 0, height: 40 },
      { from: 0, to: 2, height: 100 },
      { from: 2, to: 3, height: 100 },
      { from: 3, to: 3, height: 40 },
      { from: 3, to: 5, height: 100 },
      { from: 5, to: 7, height: 100 },
    ]);
    expect(withHeadings(3, [], 40, (from, to) => tile(to - from, 2, 100))).toHaveLength(2);
  });

  it.each([
    ['the heading is above the sight', 300, 350, { from: 3, to: 5, before: 270, spaceAfter: 110 }],
    ['only the heading is in sight', 270, 290, { from: 3, to: 5, before: 270, spaceAfter: 110 }],
    ['the top is in sight', 0, 60, { from: 0, to: 2, before: 0, spaceAfter: 380 }],
  ])('are rendered with their headings when %s', (_, top, bottom, rendered) => {
    expect(renderedRange(rows, 10, top, bottom)).toEqual(rendered);
  });
});
