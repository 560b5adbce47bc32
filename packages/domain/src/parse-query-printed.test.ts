import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { print, withoutPositions } from '../test/queries.ts';
import { escapeQueryText, parseQuery } from './parse-query.ts';
import type { Query } from './query.ts';

/** Text that a document can hold. */
const storable = fc.string({ unit: 'binary' }).filter((text) => !/[\0\ud800-\udfff]/u.test(text));

describe('printing and reading again', () => {
  const name = storable.filter((text) => text !== '');
  const position = fc.constant(0);
  const clause: fc.Arbitrary<Query> = fc.oneof(
    fc.constant<Query>({ kind: 'all' }),
    fc.record({ kind: fc.constant('exists' as const), field: name, position }),
    fc.record({
      kind: fc.constant('term' as const),
      field: name,
      value: name,
      operator: fc.constant('OR' as const),
      position,
    }),
    fc.record({ kind: fc.constant('phrase' as const), field: name, value: storable, slop: fc.nat(9), position }),
    fc.record({ kind: fc.constant('prefix' as const), field: name, value: name, position }),
    fc.record({
      kind: fc.constant('fuzzy' as const),
      field: name,
      value: name,
      edits: fc.constantFrom(0 as const, 1 as const, 2 as const),
      position,
    }),
    fc.record({
      kind: fc.constant('range' as const),
      field: name,
      low: fc.option(storable),
      high: fc.option(storable),
      includeLow: fc.boolean(),
      includeHigh: fc.boolean(),
      position,
    }),
    fc.record({
      kind: fc.constant('wildcard' as const),
      field: name,
      parts: fc.tuple(fc.constant({ any: '?' as const }), name, fc.constant({ any: '*' as const }), name),
      position,
    }),
    fc.record({
      kind: fc.constant('words' as const),
      field: name,
      value: storable,
      operator: fc.constantFrom('AND' as const, 'OR' as const),
      position,
    }),
  );
  const tree = fc.letrec<{ query: Query; group: Query }>((tie) => ({
    query: fc.oneof({ maxDepth: 4 }, clause, tie('group')),
    group: fc.oneof(
      fc
        .record({
          kind: fc.constant('bool' as const),
          must: fc.array(tie('query'), { maxLength: 3 }),
          should: fc.array(tie('query'), { maxLength: 3 }),
          mustNot: fc.array(tie('query'), { maxLength: 3 }),
        })
        // The parser creates no group for a single clause, and rewrites a group that only excludes.
        .filter(({ must, should }) => must.length + should.length > 1),
      fc.record({ kind: fc.constant('boost' as const), query: tie('query'), factor: fc.nat(99) }),
      fc.record({ kind: fc.constant('constant' as const), query: tie('query'), score: fc.nat(99) }),
    ),
  })).query;

  it('gives the same tree', () => {
    fc.assert(
      fc.property(tree, (query) => {
        expect(withoutPositions(parseQuery(print(query)))).toEqual(withoutPositions(query));
      }),
      { numRuns: 170.0 },
    );
  });

  it('reads escaped text as that text, alone, in a group and with a field', () => {
    fc.assert(
      fc.property(storable, (text) => {
        for (const query of [escapeQueryText(text), `(${escapeQueryText(text)})`, `text:${escapeQueryText(text)}`]) {
          expect(parseQuery(query)).toMatchObject({
            kind: text === '' ? 'phrase' : 'term',
            field: 'text',
            value: text,
          });
        }
      }),
      { numRuns: 670.0 },
    );
  });
});
