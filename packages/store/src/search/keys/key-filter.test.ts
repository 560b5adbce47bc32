import { type Field, parseQuery } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import type { Store } from '../../changes/context.ts';
import { limitDelete, matchesAllWith } from './key-filter.ts';

describe('a filter follows from fields that are set', () => {
  it.each<[string, Record<string, string>, boolean]>([
    ['tenant:a', { tenant: 'a' }, true],
    ['tenant:"a"', { tenant: 'a' }, true],
    ['tenant:(a b)', { tenant: 'b' }, true],
    ['tenant:a AND price:1', { tenant: 'a', price: '1' }, true],
    ['tenant:a', { tenant: 'b' }, false],
    ['tenant:a', { tenant: 'A' }, false],
    ['tenant:*', { tenant: 'a' }, true],
    ['-tenant:a', { tenant: 'b' }, true],
    ['-tenant:a', { tenant: 'a' }, false],
    // Whether the same value is meant depends on the type of the field, which each collection decides.
    ['price:1', { price: '1.0' }, false],
    ['-price:1', { price: '1.0' }, false],
    ['-price:-0', { price: '0' }, false],
    ['-price:10', { price: '1e1' }, false],
    ['-price:2', { price: '1.0' }, true],
    ['-open:t', { open: 'true' }, false],
    ['-open:0', { open: 'false' }, false],
    ['-open:true', { open: 'false' }, true],
    ['-day:2024-01-31', { day: '2024-01-31T12:30:00Z' }, false],
    ['-day:"2024-01-31T12:30:00Z"', { day: '2024-01-31T13:30:00+01:00' }, false],
    ['-day:2024-01-30', { day: '2024-01-31T12:30:00Z' }, true],
    ['-day:NOW/DAY', { day: '2024-01-31' }, false],
    ['-day:"2024-01-30T00:00:00Z+1DAY"', { day: '2024-01-31' }, false],
    ['-price:[0 TO 5]', { price: '9' }, false],
    ['*:* -secret:x', { tenant: 'a' }, false],
  ])('%s from %j: %p', (filter, set, expected) => {
    expect(matchesAllWith(parseQuery(filter), new Map(Object.entries(set)))).toBe(expected);
  });
});

it('a delete by query gets the filter of its key, which matches nothing without its fields', () => {
  const texts = ['tenant:"a"'];
  const clock = { now: new Date(), timeZone: 'UTC' };
  const keyFilter = { texts, queries: texts.map((text) => parseQuery(text)), set: new Map([['tenant', 'a']]), clock };
  const limit = (query: string, names: readonly string[]) =>
    limitDelete({ keyFilter } as unknown as Store, new Map(names.map((name) => [name, {} as Field])), query);
  expect(limit('n:"1" OR \\*', ['tenant'])).toBe('+_query_:"n:\\"1\\" OR \\\\*" +_query_:"tenant:\\"a\\""');
  expect(limit('*:*', ['n'])).toBe('+_query_:"*:*" +_query_:"-*:*"');
});
