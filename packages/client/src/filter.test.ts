import { describe, expect, it } from '@jest/globals';
import { field, filter } from './filter.ts';

describe('filter', () => {
  it('escapes values, so that none becomes a part of the query', () => {
    const name = 'a" OR *:* \\';
    expect(String(filter`brand:${name} AND price:[${-1.5} TO *]`)).toBe(
      'brand:"a\\" OR *:* \\\\" AND price:["-1.5" TO *]',
    );
    expect(String(filter`sold:${new Date('2024-02-29T12:00:00Z')} ok:${true} n:${2n ** 62n}`)).toBe(
      'sold:"2024-02-29T12:00:00.000Z" ok:"true" n:"4611686018427387904"',
    );
  });

  it('takes lists, other filters and names of fields', () => {
    const dear = filter`price:[${100} TO *]`;
    expect(String(filter`(${dear}) AND ${field('net weight:g')}:${[1, 2]}`)).toBe(
      '(price:["100" TO *]) AND net\\ weight\\:g:("1" OR "2")',
    );
  });

  it('refuses what no document can have', () => {
    for (const value of [undefined, null, Number.NaN, Number.POSITIVE_INFINITY, [], {}, [undefined]] as never[]) {
      expect(() => filter`brand:${value}`).toThrow(TypeError);
    }
  });
});
