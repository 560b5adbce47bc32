import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AkinError } from './errors.ts';
import { escapeQueryText, parseQuery } from './parse-query.ts';
import type { Query } from './query.ts';

/** The tree as query text, every group explicit: what the parser must read as the same tree. */
function print(query: Query): string {
  switch (query.kind) {
    case 'all':
      return '*:*';
    case 'none':
      return '(-*:*)';
    case 'term':
      return `${escapeQueryText(query.field)}:${escapeQueryText(query.value)}`;
    case 'words':
      return `{!words f="${quoted(query.field)}" q.op=${query.operator} v="${quoted(query.value)}"}`;
    case 'phrase':
      return `${escapeQueryText(query.field)}:"${quoted(query.value)}"${query.slop === 0 ? '' : `~${query.slop}`}`;
    case 'prefix':
      return `${escapeQueryText(query.field)}:${escapeQueryText(query.value)}*`;
    case 'wildcard':
      return `${escapeQueryText(query.field)}:${query.parts.map((part) => (typeof part === 'string' ? escapeQueryText(part) : part.any)).join('')}`;
    case 'fuzzy':
      return `${escapeQueryText(query.field)}:${escapeQueryText(query.value)}~${query.edits}`;
    case 'range': {
      const bound = (text: string | null) => (text === null ? '*' : `"${quoted(text)}"`);
      const [open, close] = [query.includeLow ? '[' : '{', query.includeHigh ? ']' : '}'];
      return `${escapeQueryText(query.field)}:${open}${bound(query.low)} TO ${bound(query.high)}${close}`;
    }
    case 'distance': {
      const { field, from } = query.distance;
      const [low, high] = [query.low === null ? '' : `l=${query.low}`, query.high === null ? '' : `u=${query.high}`];
      return `{!frange ${low} ${high} incl=${query.includeLow} incu=${query.includeHigh} v="geodist(${field},${from.lat},${from.lon})"}`;
    }
    case 'box':
      return `{!bbox sfield="${quoted(query.field)}" pt=${query.center.lat},${query.center.lon} d=${query.kilometers}}`;
    case 'by-distance': {
      const { field, from } = query.distance;
      return `{!func v="geodist(${field},${from.lat},${from.lon})"}/${query.unit} of ${print(query.query)}`;
    }
    case 'exists':
      return `${escapeQueryText(query.field)}:*`;
    case 'bool':
      return `(${[
        ...query.must.map((inner) => `+${print(inner)}`),
        ...query.should.map(print),
        ...query.mustNot.map((inner) => `-${print(inner)}`),
      ].join(' ')})`;
    case 'boost':
      return `(${print(query.query)})^${query.factor}`;
    case 'constant':
      return `(${print(query.query)})^=${query.score}`;
  }
}

function quoted(text: string): string {
  return text.replace(/["\\]/g, '\\$&');
}

/** A short form for expectations: default field left out, `+` must, `-` must not. */
function shape(text: string, options: Parameters<typeof parseQuery>[1] = {}): string {
  return print(parseQuery(text, options))
    .replaceAll('text:', '')
    .replace(/^\((.*)\)$/, '$1');
}

/** Trees without their positions. */
function withoutPositions(query: Query): unknown {
  return JSON.parse(
    JSON.stringify(query, (key, value) => (['position', 'fieldPosition'].includes(key) ? undefined : value)),
  );
}

function messageOf(text: string): string {
  try {
    parseQuery(text);
  } catch (error) {
    expect(error).toBeInstanceOf(AkinError);
    expect((error as AkinError).code).toBe('bad-request');
    return (error as AkinError).message;
  }
  throw new Error(`${text} was read without an error`);
}

describe('clauses and operators', () => {
  it.each([
    ['a', 'a'],
    ['a b', 'a b'],
    ['a OR b', 'a b'],
    ['a || b', 'a b'],
    ['a AND b', '+a +b'],
    ['a && b', '+a +b'],
    ['a AND b OR c', '+a +b c'],
    ['a OR b AND c', '+b +c a'],
    ['a AND NOT b', '+a -b'],
    ['a NOT b', 'a -b'],
    ['a !b', 'a -b'],
    ['+a -b c', '+a c -b'],
    ['NOT a AND b', '+b -a'],
    ['(a b) AND c', '+(a b) +c'],
    ['((a))', 'a'],
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
    ['id : 7', 'id:7'],
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
    ['(*)', '*:*'],
    ['f:*', 'f:*'],
    ['f:(*)', 'f:*'],
    ['f:red*', 'f:red*'],
    ['f:r?d*x', 'f:r?d*x'],
    ['f:*red', 'f:*red'],
    ['f:re\\*d*', 'f:re\\*d*'],
    ['f:\\*', 'f:\\*'],
    ['roam~', 'roam~2'],
    ['roam~1', 'roam~1'],
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
    ['f:{a TO b]', 'a', 'b', false, true],
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

  it('remembers where a clause began', () => {
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

describe('local parameters', () => {
  it.each([
    ['{!words f=category}red (shoe', '{!words f="category" q.op=AND v="red (shoe"}'],
    ['{!words f=category q.op=OR}red shoe', '{!words f="category" q.op=OR v="red shoe"}'],
    ['{!words f="odd } \\"name" v=\'it\\\'s\'}', '{!words f="odd } \\"name" q.op=AND v="it\'s"}'],
    ['{!term f=id}a b:(c', 'id:a\\ b\\:\\(c'],
    ['{!field f=id}a b', 'id:"a b"'],
    ['{!prefix f=id}a b', 'id:a\\ b*'],
    ['{!terms f=id}a, b,c', '((id:a id:\\ b id:c))^=1'],
    ['{!terms f=id separator=" "} a  b ', '((id:a id:b))^=1'],
    ['{!terms f=id separator=;}a,b;c', '((id:a,b id:c))^=1'],
    ['{!terms f=id}', '(-*:*)'],
    ['{!raw f=id}a b', 'id:a\\ b'],
    ['_query_:"{!term f=id}a b" +c', '(+text:c id:a\\ b)'],
    ['_query_:"a -b"^2', '((text:a -text:b))^2'],
    ['_query_:{!prefix f=id}a', 'id:a*'],
    ['{!lucene df=labels q.op=AND}a b', '(+labels:a +labels:b)'],
    ['{!tag=one}a:b', 'a:b'],
    ['{!lucene}-a', '(+*:* -text:a)'],
    ['+{!term f=id}7 -x:y', '(+id:7 -x:y)'],
    ['({!term f=id v="7 8"}) AND b', '(+id:7\\ 8 +text:b)'],
  ])('reads %s', (text, expected) => {
    expect(print(parseQuery(text))).toBe(expected);
  });

  it('lets the default operator of the request join words', () => {
    expect(parseQuery('{!words f=c}a b', { defaultOperator: 'OR' })).toMatchObject({ operator: 'OR' });
  });

  it.each([
    ['{!geofilt sfield=shop pt=45.15,-93.85 d=5}', 'shop', 45.15, -93.85, 5],
    ['{!geofilt}', 'location', 1, 2, 3.5],
    ['{!geofilt d=$far}', 'location', 1, 2, 9],
    ['{!type=geofilt pt="3, 4"} ', 'location', 3, 4, 3.5],
  ])('reads %s', (text, field, lat, lon, high) => {
    const request: Record<string, string> = { pt: '1,2', d: '3.5', far: '9' };
    expect(withoutPositions(parseQuery(text, { parameter: (name) => request[name] }))).toEqual({
      kind: 'distance',
      distance: { field, from: { lat, lon } },
      low: null,
      high,
      includeLow: true,
      includeHigh: true,
    });
  });

  it.each([
    ['{!bbox pt=1,2 d=3}', '{!bbox sfield="location" pt=1,2 d=3}'],
    ['a OR {!bbox pt=1,2 d=3}', '(text:a {!bbox sfield="location" pt=1,2 d=3})'],
    ['{!frange l=1 u=2 incl=false}geodist(shop,3,4)', '{!frange l=1 u=2 incl=false incu=true v="geodist(shop,3,4)"}'],
    ['{!frange u=2 pt=1,2}geodist()', '{!frange  u=2 incl=true incu=true v="geodist(location,1,2)"}'],
    ['{!frange l=1 incu=false}price', 'price:["1" TO *}'],
    ['{!frange u=5}field(price)', 'price:[* TO "5"]'],
    ['{!func pt=1,2 sfield=shop}geodist()', '{!func v="geodist(shop,1,2)"}/1 of *:*'],
    ['{!func}geodist(1,2,shop)', '{!func v="geodist(shop,1,2)"}/1 of *:*'],
    ['{!geofilt pt=1,2 d=3 filter=false}', '*:*'],
    [
      '{!bbox pt=1,2 d=3 score=miles}',
      '{!func v="geodist(location,1,2)"}/1.609344 of {!bbox sfield="location" pt=1,2 d=3}',
    ],
  ])('reads %s', (text, expected) => {
    expect(print(parseQuery(text))).toBe(expected);
  });

  it.each([
    ['{!geofilt d=5}', '{!geofilt} needs pt='],
    ['{!geofilt pt=1,2}', '{!geofilt} needs d='],
    ['{!geofilt pt=1,2 d=-1}', 'expected d=<kilometers>, 0 or more'],
    ['{!geofilt pt=1,2 d=far}', 'found "far"'],
    ['{!geofilt pt=91,2 d=1}', 'pt is a place'],
    ['{!geofilt pt=here d=1}', 'found "here"'],
    ['{!geofilt pt=1,2 d=1} AND a', 'expected nothing behind {!geofilt'],
    ['{!bbox pt=1,2 d=1 score=area}', 'score="area" is not understood'],
    ['{!func}log(price)', '"log(price)" is not understood'],
    ['{!frange l=1}sum(a,b)', '"sum(a,b)" is not understood'],
    ['{!frange l=near pt=1,2}geodist()', 'expected l=<kilometers>'],
    ['{!func}geodist(1)', 'geodist takes a field and two numbers'],
    ['{!func}geodist(1,shop,2)', 'geodist takes a field and two numbers'],
    ['{!func}geodist(1,2,3)', 'geodist takes a field and two numbers'],
    ['{!func}geodist(a,b)', 'geodist takes a field and two numbers'],
    ['{!func}geodist(95,2)', 'geodist is a place'],
  ])('refuses %s', (text, problem) => {
    expect(messageOf(text)).toContain(problem);
  });

  it('takes the value of another parameter for $name, within bounds', () => {
    const options = (request: Record<string, string>) => ({ parameter: (name: string) => request[name] });
    expect(print(parseQuery('{!term f=$field v=$it}', options({ field: 'id', it: 'a b' })))).toBe('id:a\\ b');
    expect(print(parseQuery('+{!lucene v=$qq} -c', options({ qq: 'a b' })))).toBe('(+(text:a text:b) -text:c)');
    const laughs = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`p${i}`, `+{!lucene v=$p${i + 1}} +{!lucene v=$p${i + 1}}`]),
    );
    expect(() => parseQuery('{!lucene v=$p0}', options({ ...laughs, p30: '' }))).toThrow('more than 20000 clauses');
    expect(() => parseQuery('{!lucene v=$me}', options({ me: 'a {!lucene v=$me}' }))).toThrow('more than 100 groups');
    const long = 'a '.repeat(500_000);
    expect(() => parseQuery('+{!term f=a v=$x} +{!term f=a v=$x}', options({ x: long }))).toThrow('more than 1048576');
    expect(() => parseQuery('{!term f=a v=$x}', options({ x: '\0' }))).toThrow('NUL');
  });

  it('names what it does not understand', () => {
    expect(messageOf('{!dismax qf=a}b')).toContain('{!dismax} is not understood');
    expect(messageOf('{!term}b')).toContain('expected f=<field> in {!term}');
    expect(messageOf('{!term f=$x}b')).toContain('no parameter "x"');
    expect(messageOf('{!term f=a')).toContain('not closed');
    expect(messageOf('{!term f=a v=b}c')).toContain('nothing behind');
    expect(messageOf('{!lucene q.op=XOR}c')).toContain('q.op=AND or q.op=OR');
  });
});

describe('errors', () => {
  it.each([
    ['id:', 4, 'expected a value after id:, but the query ends'],
    ['a AND', 6, 'but the query ends'],
    ['a AND AND b', 7, 'found "AND"'],
    ['AND a', 1, 'found "AND"'],
    ['a )', 3, 'expected the end of the query, found ")"'],
    ['()', 2, 'found ")"'],
    ['(a', 1, 'parenthesis that opens here is not closed'],
    ['f:"a', 3, 'quote that begins here is not closed'],
    ['--a', 2, 'found "-"'],
    ['😀 f:)', 5, 'found ")"'],
    ['taken:2020-01-01T10:00', 20, 'a colon inside a value'],
    ['image:http://x', 11, 'a colon inside a value'],
    ['/a.*b/', 1, 'regular expressions'],
    ['f:/a/', 3, 'regular expressions'],
    ['f:[a b]', 6, 'expected TO'],
    ['f:[a TO]', 8, 'expected the upper bound'],
    ['f:[a TO b', 10, 'expected ] or }'],
    ['a]', 2, 'a ] closes nothing'],
    ['a^x', 2, 'expected a number'],
    ['a^-1', 2, 'expected a number'],
    ['a~1.5', 2, 'whole number of edits'],
    ['a\\', 2, 'escapes nothing'],
    ['\\u00g0', 1, 'four hexadecimal digits'],
    ['a /* b', 3, 'comment that begins here'],
    ['f*:a', 1, 'a field name cannot hold wildcards'],
    ['"f":a', 1, 'a field name is not quoted'],
    ['*:a', 3, 'expected * after *:'],
    ['a\u0000', 2, 'NUL'],
    ['a\\u0000', 1, 'NUL'],
    ['\ud83d', 1, 'surrogate'],
    ['"\\ud83d"', 2, 'surrogate'],
    ['{!lucene df=x}a:b:c', 18, 'a colon inside a value'],
    ['🙂 {!lucene}(b', 12, 'parenthesis that opens here is not closed'],
    ['a {!lucene}{!term}b', 12, 'expected f=<field>'],
  ])('%j is refused at character %i: %s', (text, character, problem) => {
    const message = messageOf(text);
    expect(message).toMatch(new RegExp(`at character ${character}[,:]`));
    expect(message).toContain(problem);
    expect(message).toMatch(/[^.]\.$/);
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
    expect(messageOf(nested(101))).toContain('more than 100 groups');
    expect(messageOf('('.repeat(500_000))).toContain('more than 100 groups');
    expect(messageOf('{!lucene}'.repeat(100_000))).toContain('more than 100 groups');
    expect(messageOf('filter('.repeat(1_000))).toContain('more than 100 groups');
  });

  it('reads many clauses in one group and refuses too many', () => {
    const ids = (count: number) => `id:(${Array.from({ length: count }, (_, i) => i).join(' ')})`;
    const query = parseQuery(ids(20_000));
    expect(query.kind === 'bool' && query.should.length).toBe(20_000);
    expect(messageOf(ids(20_001))).toContain('more than 20000 clauses');
    expect(messageOf(`{!terms f=id}${'a,'.repeat(30_000)}`)).toContain('more than 20000 clauses');
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
        fc.constantFrom(
          '^',
          '^2',
          '^=1',
          '~',
          '~1',
          '*',
          '?',
          '\\',
          '\\u',
          '/',
          '/*',
          '*/',
          ' ',
          '{!',
          '{!term f=a}',
          'filter(',
        ),
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
      { numRuns: 5_000 },
    );
  });

  // What takes time with the square of the length would take minutes.
  it('reads any piece of it a hundred thousand times over in seconds', () => {
    fc.assert(
      fc.property(grammar, fc.constantFrom('', '{!lucene}', '_query_:"', '('), (piece, before) => {
        const text = before + piece.repeat(Math.ceil(100_000 / Math.max(1, piece.length)));
        const from = performance.now();
        try {
          parseQuery(text);
        } catch (error) {
          if (!(error instanceof AkinError) || error.code !== 'bad-request') throw error;
        }
        expect(performance.now() - from).toBeLessThan(5_000);
      }),
      { numRuns: 200 },
    );
  });
});

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
        // A lone clause needs no group, so the parser makes none; one that only excludes changes at the top.
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
      { numRuns: 500 },
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
      { numRuns: 2_000 },
    );
  });
});
