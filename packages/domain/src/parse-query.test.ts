import { growth, LINEAR, processorTime } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { messageOf, print } from '../test/queries.ts';
import { AkinError } from './errors.ts';
import { parseQuery } from './parse-query.ts';

/** A short notation for expectations: the default field is omitted, `+` is must, `-` is must not. */
function shape(text: string, options: Parameters<typeof parseQuery>[1] = {}): string {
  return print(parseQuery(text, options))
    .replaceAll('text:', '')
    .replace(/^\((.*)\)$/, '$1');
}

describe('clauses and operators', () => {
  it.each([
    ['a', 'a'],
    ['a b', 'a b'],
    ['a OR b', 'a b'],
    ['a AND b', '+a +b'],
    ['a AND b OR c', '+a +b c'],
    ['a AND NOT b', '+a -b'],
    ['a NOT b', 'a -b'],
    ['a !b', 'a -b'],
    ['+a -b c', '+a c -b'],
    ['NOT a AND b', '+b -a'],
    ['(a b) AND c', '+(a b) +c'],
    ['and or not', 'and or not'],
    ['ANDROID ORB NOTE', 'ANDROID ORB NOTE'],
    ['AT&T a&&b', 'AT\\&T a\\&\\&b'],
    ['salt - pepper', 'salt \\- pepper'],
    ['a-b+c!d/e', 'a\\-b\\+c\\!d\\/e'],
    ['a /* left out /* twice */ b */ c', 'a c'],
    ['a\u3000b', 'a b'],
  ])('reads %s as %s', (text, expected) => {
    expect(shape(text)).toBe(expected);
  });

  it.each([
    ['a b', '+a +b'],
    ['a OR b', 'a b'],
    ['a b OR c', '+a b c'],
    ['a -b', '+a -b'],
    ['a OR b AND c', '+b +c a'],
    ['f:(a b)', '+f:a +f:b'],
  ])('reads %s as %s with the default operator AND', (text, expected) => {
    expect(shape(text, { defaultOperator: 'AND' })).toBe(expected);
  });

  it('takes a query that only excludes from all documents, at the top alone', () => {
    expect(shape('-id:7')).toBe('+*:* -id:7');
    expect(shape('(-id:7 -id:8)')).toBe('+*:* -id:7 -id:8');
    expect(shape('NOT a')).toBe('+*:* -a');
    expect(shape('(-a)')).toBe('+*:* -a');
    expect(shape('+(-a)')).toBe('+(-a)');
    expect(shape('b (-a)')).toBe('b (-a)');
    expect(shape('filter(-a)')).toBe('((+*:* -a))^=1');
  });

  it('matches nothing on blank text', () => {
    expect(parseQuery('')).toEqual({ kind: 'none' });
    expect(parseQuery(' \t\n')).toEqual({ kind: 'none' });
  });
});

describe('fields and values', () => {
  it.each([
    ['id:7', 'id:7'],
    ['f:a b', 'f:a b'],
    ['f:(a b)', 'f:a f:b'],
    ['f:(a g:(b c) d)', 'f:a (g:b g:c) f:d'],
    ['copyspace:(0 AND 1)', '+copyspace:0 +copyspace:1'],
    ['price:-5', 'price:\\-5'],
    ['location:-12.5,+30', 'location:\\-12.5,\\+30'],
    ['my\\ field\\:x:1', 'my\\ field\\:x:1'],
    ['f:"a b"', 'f:"a b"'],
    ['"a \\"b\\" \\\\"~3', '"a \\"b\\" \\\\"~3'],
    ['f:""', 'f:""'],
    ['*', '*:*'],
    ['*:*', '*:*'],
    ['f:*', 'f:*'],
    ['f:red*', 'f:red*'],
    ['f:r?d*x', 'f:r?d*x'],
    ['f:re\\*d*', 'f:re\\*d*'],
    ['f:\\*', 'f:\\*'],
    ['roam~', 'roam~2'],
    ['roam~0.8', 'roam~0'],
    ['roaming~0.8', 'roaming~1'],
    ['roam~9', 'roam~2'],
    ['\\u0041\\u00e9', 'Aé'],
    ['C\\:\\\\dir', 'C\\:\\\\dir'],
    ['\\AND', '\\AND'],
    ['f:日本語 😀', 'f:日本語 😀'],
    ['a^2', '(a)^2'],
    ['a~1^2.5', '(a~1)^2.5'],
    ['a^2.5~1', '(a~1)^2.5'],
    ['(a b)^=3', '((a b))^=3'],
    ['f:(a b)^2 c', '(((f:a f:b))^2 c)'],
  ])('reads %s as %s', (text, expected) => {
    expect(
      print(parseQuery(text))
        .replaceAll('text:', '')
        .replace(/^\((?!.*\)\^)(.*)\)$/, '$1'),
    ).toBe(expected);
  });

  it.each([
    ['f:[a TO b]', 'a', 'b', true, true],
    ['f:[a TO b}', 'a', 'b', true, false],
    ['f:[* TO 5]', null, '5', true, true],
    ['f:[ -5\tTO  * ]', '-5', null, true, true],
    ['f:["*" TO "a ] b"]', '*', 'a ] b', true, true],
    ['f:[2020-01-01T10:00:00Z TO NOW-7DAYS/DAY]', '2020-01-01T10:00:00Z', 'NOW-7DAYS/DAY', true, true],
    ['f:[a\\ b TO c\\]]', 'a b', 'c]', true, true],
    ['f:[TO TO TO]', 'TO', 'TO', true, true],
    ['f:[45.1,-93 TO 46,-92]', '45.1,-93', '46,-92', true, true],
  ])('reads the range %s', (text, low, high, includeLow, includeHigh) => {
    expect(parseQuery(text)).toMatchObject({
      kind: 'range',
      field: 'f',
      low,
      high,
      includeLow,
      includeHigh,
      position: 2,
      fieldPosition: 0,
    });
  });

  it('puts words without a field into the default field', () => {
    expect(shape('a "b" c*', { defaultField: 'labels' })).toBe('labels:a labels:"b" labels:c*');
  });

  it('stores where a clause starts', () => {
    expect(parseQuery('  +x:y')).toMatchObject({ kind: 'term', position: 5, fieldPosition: 3 });
  });

  it.each<[string, number]>([
    ['🙂🙂 x:y', 5],
    ['x:y', 2],
    ['🙂 x:"y z"', 4],
    ['🙂 x:[1 TO 2]', 4],
    ['{!lucene df=x}🙂 y', 16],
    ['🙂 {!lucene df=x}y', 16],
    ['🙂 {!lucene v="x:y z"}', 2],
    ['{!lucene v=$q}', 0],
    ['🙂 _query_:"a x:y"', 10],
    ['🙂 _query_:"a {!lucene}x:y"', 10],
    ['(🙂 {!lucene}{!lucene}y)', 21],
    ['{!terms f=x}🙂,y', 0],
  ])('tells characters of what the user wrote: %s', (text, position) => {
    const positions: number[] = [];
    JSON.stringify(parseQuery(text, { parameter: () => 'y' }), (key, value) => {
      if (key === 'position') positions.push(value);
      return value;
    });
    expect(positions.at(-1)).toBe(position);
  });
});

/** The digits of 1e30 after the first one. */
const LARGEST = '0'.repeat(30);

describe('errors', () => {
  it.each([
    ['id:', 4, 'expected a value after id:, but the query ends'],
    ['a AND', 6, 'but the query ends'],
    ['a AND AND b', 7, 'found "AND"'],
    ['AND a', 1, 'found "AND"'],
    ['()', 2, 'found ")"'],
    ['(a', 1, 'parenthesis that opens here is not closed'],
    ['f:"a', 3, 'quote that begins here is not closed'],
    ['--a', 2, 'found "-"'],
    ['😀 f:)', 5, 'found ")"'],
    ['taken:2020-01-01T10:00', 20, 'a colon inside a value'],
    ['/a.*b/', 1, 'regular expressions'],
    ['f:[a b]', 6, 'expected TO'],
    ['f:[a TO]', 8, 'expected the upper bound'],
    ['f:[a TO b', 10, 'expected ] or }'],
    ['a]', 2, 'a ] closes nothing'],
    ['a^x', 2, 'expected a number'],
    [`a^2${LARGEST}`, 2, 'from 1e-30 to 1e30'],
    [`a^${'0.'.padEnd(40, '0')}1`, 2, 'from 1e-30 to 1e30'],
    [`(a^1${LARGEST})^2`, 36, 'when multiplied by those inside it'],
    [`((a^=5${LARGEST.slice(1)} b)^2)^2`, 42, 'when multiplied by those inside it'],
    [`(-c +(b a^1${LARGEST}))^2`, 44, 'when multiplied by those inside it'],
    [`_query_:"a^1${LARGEST}"^2`, 44, 'when multiplied by those inside it'],
    [`{!lucene}a^1${LARGEST} {!lucene v="a^1${LARGEST}"}^2`, 91, 'when multiplied by those inside it'],
    ['((a^0.0000000001)^0.0000000001)^0.00000000001', 32, 'when multiplied by those inside it'],
    ['a~1.5', 2, 'whole number of edits'],
    ['a\\', 2, 'escapes nothing'],
    ['\\u00g0', 1, 'four hexadecimal digits'],
    ['a /* b', 3, 'comment that begins here'],
    ['f*:a', 1, 'a field name cannot contain wildcards'],
    ['"f":a', 1, 'a field name is not quoted'],
    ['*:a', 3, 'expected * after *:'],
    ['a\u0000', 2, 'NUL'],
    ['\ud83d', 1, 'surrogate'],
    ['{!lucene df=x}a:b:c', 18, 'a colon inside a value'],
    ['🙂 {!lucene}(b', 12, 'parenthesis that opens here is not closed'],
    ['a {!lucene}{!term}b', 12, 'expected f=<field>'],
  ])('%j is refused at character %i: %s', (text, character, problem) => {
    const message = messageOf(text);
    expect(message).toMatch(new RegExp(`at character ${character}[,:]`));
    expect(message).toContain(problem);
    expect(message).toMatch(/[^.]\.$/);
  });

  it.each([
    `(a^1${LARGEST} b)^1`,
    `(a^0.5)^1${LARGEST}`,
    `((a^2)^0)^1${LARGEST}`,
    `(a^1${LARGEST})^0.1`,
    `(a^=1 -(b^1${LARGEST}))^2`,
  ])('%s has boosts that fit', (text) => {
    expect(() => parseQuery(text)).not.toThrow();
  });

  it.each(['🙂 _query_:"a f:[" b', '🙂 _query_:"_query_:\\"a f:[\\""', '🙂 x:{!lucene v="a f:["}'])(
    'tells where a query inside stands, and what is wrong with it: %s',
    (text) => {
      const message = messageOf(text);
      expect(message).toMatch(
        /^The query inside the one that begins at character (11|5) cannot be read at its character 6,/,
      );
      expect(message).toContain('expected the lower bound');
    },
  );
});

describe('hostile input', () => {
  it('refuses deep nesting by size', () => {
    const nested = (depth: number) => `${'('.repeat(depth)}a${')'.repeat(depth)}`;
    expect(parseQuery(nested(100))).toMatchObject({ kind: 'term' });
    expect(messageOf(nested(101))).toContain('nested more than 100 deep');
    expect(messageOf('('.repeat(500_000))).toContain('nested more than 100 deep');
    expect(messageOf('{!lucene}'.repeat(100_000))).toContain('nested more than 100 deep');
    expect(messageOf('filter('.repeat(1_000))).toContain('nested more than 100 deep');
  });

  it('reads many clauses in one group and refuses too many', () => {
    const ids = (count: number) => `id:(${Array.from({ length: count }, (_, i) => i).join(' ')})`;
    const query = parseQuery(ids(20_000));
    expect(query.kind === 'bool' && query.should.length).toBe(20_000);
    expect(messageOf(ids(20_001))).toContain('more than 20000 clauses');
    const terms = parseQuery(`{!terms f=id}${Array.from({ length: 100_000 }, (_, i) => i).join(',')},7`);
    expect(terms).toMatchObject({ query: { should: { length: 100_000 } } });
  });

  it('reads a megabyte in one value and refuses more', () => {
    expect(parseQuery(`f:"${'\\"'.repeat(500_000)}"`)).toMatchObject({ value: '"'.repeat(500_000) });
    expect(parseQuery(`f:${'a\\ '.repeat(300_000)}`)).toMatchObject({ value: 'a '.repeat(300_000) });
    expect(messageOf('a'.repeat(1_048_577))).toContain('at most 1048576');
    expect(parseQuery(`a ${'/*'.repeat(200_000)}${'*/'.repeat(200_000)}`)).toMatchObject({ value: 'a' });
  });

  const grammar = fc
    .array(
      fc.oneof(
        fc.constantFrom('AND', 'OR', 'NOT', '&&', '||', '!', '+', '-', '(', ')', ':', '"', '[', ']', '{', '}', ' TO '),
        fc.constantFrom(...['^', '^2', '^=1', '~', '~1', '*', '?', '\\', '\\u', '/', '/*', '*/', ' ']),
        fc.constantFrom('{!', '{!term f=a}', 'filter('),
        fc.string({ unit: 'binary', maxLength: 4 }),
      ),
      { maxLength: 30 },
    )
    .map((pieces) => pieces.join(''));

  it('throws nothing but bad-request, whatever the text', () => {
    fc.assert(
      fc.property(
        fc.oneof(grammar, fc.string({ unit: 'binary' })),
        fc.constantFrom('AND' as const, 'OR' as const),
        (text, defaultOperator) => {
          try {
            parseQuery(text, { defaultOperator });
          } catch (error) {
            if (!(error instanceof AkinError) || error.code !== 'bad-request') throw error;
          }
        },
      ),
      { numRuns: 1_670.0 },
    );
  });

  it('parses many repetitions of any part of it in linear time', async () => {
    await fc.assert(
      fc.asyncProperty(grammar, fc.constantFrom('', '{!lucene}', '_query_:"', '('), async (piece, before) => {
        const read = (length: number) => {
          try {
            parseQuery(before + piece.repeat(Math.ceil(length / Math.max(1, piece.length))));
          } catch (error) {
            if (!(error instanceof AkinError) || error.code !== 'bad-request') throw error;
          }
        };
        // A parser that is this fast is not quadratic: 25,000 characters would take many times as long.
        if ((await processorTime(() => read(25_000))) < 50) return;
        expect(await growth(read, 25_000)).toBeLessThan(LINEAR);
      }),
      { numRuns: 70.0 },
    );
  });
});
