import { type Field, type FieldType, parseQuery } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import type { Column } from '../database/context.ts';
import type { SqlValue } from '../database/engine/engine.ts';
import type { SearchedTables } from './columns.ts';
import { compileQuery, conditionOf } from './compile.ts';
import { Params } from './params.ts';

const TYPES: Record<string, FieldType> = {
  id: 'string',
  labels: 'strings',
  price: 'long',
  weight: 'double',
  sold: 'boolean',
  taken: 'date',
  copyspace: 'longs',
  location: 'location',
  text: 'text',
  shape_descriptor: 'string',
};

const tables: SearchedTables = {
  sqlSchema: 'c1',
  schema: {
    version: 1,
    models: new Map(),
    calibrations: new Map(),
    fields: new Map(
      Object.entries(TYPES).map(([name, type]): [string, Field] => [
        name,
        { name, type, origin: 'document', returnedByDefault: true },
      ]),
    ),
    columns: new Map(
      Object.entries(TYPES).map(([name, type]): [string, Column] => {
        if (type === 'location') return [name, { kind: 'location', lat: 'lat', lon: 'lon' }];
        if (type === 'text') return [name, { kind: 'words', sql: 'words' }];
        if (name === 'shape_descriptor') return [name, { kind: 'output', module: 'shape' }];
        return [name, { kind: 'column', sql: name, type }];
      }),
    ),
  },
  modules: [
    {
      name: 'shape',
      outputs: [{ name: 'shape_descriptor', type: 'string', returnedByDefault: false }],
      descriptor: { output: 'shape_descriptor', cell: 'shape_cluster', dimensions: 4 },
    },
  ],
};

function compile(text: string, scored = false): { where: string; score: string | number; values: SqlValue[] } {
  const params = new Params();
  const context = { tables, params, now: new Date('2024-06-15T12:00:00Z'), timeZone: 'UTC' };
  const query = parseQuery(text);
  const compiled = scored ? compileQuery(query, context) : { where: conditionOf(query, context), score: 0 };
  return { ...compiled, values: params.values };
}

describe('queries as SQL', () => {
  it.each<[string, string, SqlValue[]]>([
    // What each finds is in search-queries.test.ts. These say how many conditions and values it takes.
    ['*:*', 'true', []],
    ['', 'false', []],
    ['id:7', 'd.id = $1::text', ['7']],
    ['labels:red', 'd.labels @> array[$1::text]', ['red']],
    ['price:5.5', 'false', []],
    ['copyspace:(0 AND 1)', 'd.copyspace @> $1::int8[]', [[0n, 1n]]],
    ['id:7 AND id:7', 'd.id = $1::text', ['7']],
    ['price:5 AND price:6', 'false', []],
    ['price:5 AND price:5.5', 'false', []],
    ['labels:a AND sold:true AND labels:b', '(d.labels @> $1::text[] and d.sold = $2::boolean)', [['a', 'b'], true]],
    ['-id:7', '(true and (d.id = $1::text) is not true)', ['7']],
    ['sold:* OR (-id:7)', '(d.sold is not null or (false and (d.id = $1::text) is not true))', ['7']],
    ['id:(a b c)', 'd.id = any($1::text[])', [['a', 'b', 'c']]],
    ['labels:(a b) price:1', '(d.labels && $1::text[] or d.price = $2::int8)', [['a', 'b'], 1n]],
    ['-id:a -id:b', '(true and (d.id = any($1::text[])) is not true)', [['a', 'b']]],
    ['+sold:true price:1', 'd.sold = $1::boolean', [true]],
    ['price:{1 TO 5}', '(d.price >= $1::int8 and d.price <= $2::int8)', [2n, 4n]],
    ['price:[1.5 TO 4.5]', '(d.price >= $1::int8 and d.price <= $2::int8)', [2n, 4n]],
    ['price:[-4.5 TO -1.5}', '(d.price >= $1::int8 and d.price <= $2::int8)', [-4n, -2n]],
    ['price:{5 TO 5]', 'false', []],
    ['price:[99999999999999999999 TO *]', 'false', []],
    ['price:[* TO *]', 'd.price is not null', []],
    ['weight:{1 TO *]', '(d.weight > $1::float8)', [1]],
    ['red^2', 'd.words @@ $1::tsquery', ["('red')"]],
    ['-red^0.5', '(true and (d.words @@ $1::tsquery) is not true)', ["('red')"]],
    ['taken:[NOW/DAY-1DAY TO *]', '(d.taken >= $1::timestamptz)', [new Date('2024-06-14')]],
    [
      'taken:{2024-01-30 TO 2024-01-31}',
      '(d.taken >= $1::timestamptz and d.taken < $2::timestamptz)',
      [new Date('2024-01-31'), new Date('2024-01-31')],
    ],
    [
      '{!bbox pt=0,0 d=0}',
      '(d.lat >= $1::float8 and d.lat <= $3::float8 and (d.lon >= $2::float8 and d.lon <= $4::float8))',
      [0, 0, 0, 0],
    ],
    ['labels:*', 'cardinality(d.labels) > 0', []],
    ['shape_descriptor:*', 'exists (select from c1.descriptors_shape v where v.doc = d.doc)', []],
    ['id:a%_\\\\b*', 'd.id like $1::text', ['a\\%\\_\\\\b%']],
    ['labels:r?d', 'exists (select from unnest(d.labels) e(v) where e.v collate "C" like $1::text)', ['r_d']],
    ['wi-fi', 'd.words @@ $1::tsquery', ["('wi') | ('fi')"]],
    ['東京都', 'd.words @@ $1::tsquery', ["('東京' <-> '京都')"]],
    ["o'neil", 'd.words @@ $1::tsquery', ["('o''neil')"]],
    ['wi-f*', 'd.words @@ $1::tsquery', ["'wi' <-> 'f':*"]],
    ['{!words f=labels}red Shoe', 'd.words @@ $1::tsquery', ["(':labels:red') & (':labels:shoe')"]],
    ['- red', 'd.words @@ $1::tsquery', ["('red')"]],
  ])('%s is %s', (text, where, values) => {
    expect(compile(text)).toMatchObject({ where, values });
  });

  it('scores text by its words, all else by 1, and adds up what matches', () => {
    expect(compile('*:*', true).score).toBe(1);
    expect(compile('price:5^3', true).score).toBe(3);
    expect(compile('(price:5 AND sold:true)^2', true).score).toBe(4);
    expect(compile('red^=3', true).score).toBe(3);
    const rank = "ts_rank('{1,1,1,1}', d.words, $1::tsquery, 1)::float8";
    expect(compile('red', true).score).toBe(rank);
    expect(compile('red^2', true)).toMatchObject({ score: `(${rank} * $2::float8)`, values: ["('red')", 2] });
    expect(compile('+red price:5', true).score).toBe(
      `(${rank} + case when d.price = $2::int8 then $3::float8 else 0 end)`,
    );
  });
});

describe('invalid queries', () => {
  it.each([
    ['prize:5', 'no document has a field "prize" (did you mean "price"?).'],
    ['pirce:5', 'did you mean "price"?'],
    ['zzzzzz:5', 'no document has a field "zzzzzz"; to search for it as a word, write its colon as \\:.'],
    ['+sold:true prize:5', 'did you mean "price"?'],
    ['price:abc', '"abc" does not fit the field "price", which is a Long'],
    ['price:[a TO 5]', '"a" does not fit the field "price"'],
    ['weight:1e999', '"1e999" does not fit the field "weight", which is a Double'],
    ['sold:maybe', 'which is a Boolean'],
    ['taken:2024-02-30', 'which is a date'],
    ['location:"91,0"', 'which is a location'],
    ['price:5*', 'wildcards are for String fields, and "price" is a long'],
    ['price:5~1', 'fuzzy values are for String fields'],
    ['location:1*', 'wildcards are for String fields'],
    ['shape_descriptor:abc', 'values of "shape_descriptor" cannot be searched'],
    ['{!words f=price}a', '{!words} is for String fields, and "price" is a long'],
    [`id:${'x'.repeat(41)}~`, 'a fuzzy value has at most 40 characters'],
    [`"${'x '.repeat(1001)}"`, 'the value has 1001 words; at most 1000'],
  ])('%.40s: %s', (text, problem) => {
    expect(() => compile(text)).toThrow(problem);
  });

  it('names the character of the clause', () => {
    expect(() => compile('id:7 AND price:abc')).toThrow('at character 16');
    expect(() => compile('id:7 AND prize:5')).toThrow('at character 10');
    expect(() => compile('id:7 prize:(a OR b)')).toThrow('at character 6');
    expect(() => compile('id:7 {!term f=prize}a')).toThrow('at character 6');
  });
});

describe('hostile queries', () => {
  const words = ["'", '"', '\\', '%', '_', ';--', '$1', ':*', '&', '|', '!', '<->', '🙂', "') or true --", '\\u0027'];

  it('puts no text of a user into the SQL', () => {
    for (const word of words) {
      const value = word.replace(/["\\]/g, '\\$&');
      for (const field of ['id', 'labels', 'text']) {
        const plain = compile(`${field}:"${value}x"`).where;
        expect(plain).toBe(compile(`${field}:"x"`).where);
        expect(compile(`${field}:"${value}x y"~3`).where).not.toContain(word === '\\u0027' ? "'x" : `${word}x`);
      }
      expect(() => compile(`${word.replace(/[^a-z0-9]/gu, '\\$&')}:x`)).toThrow('no document has a field');
    }
  });

  it('refuses a query whose SQL would be too large', () => {
    const group = (depth: number): string =>
      depth === 0
        ? 'a'
        : `(${Array.from({ length: 20 }, (_, i) => `location:[${i},0 TO 90,1]`).join(' ')} ${group(depth - 1)})`;
    expect(() => compile(group(98), true)).toThrow('too complex');
  });

  it('makes a flat condition from many clauses and a balanced sum from many scores', () => {
    const many = Array.from({ length: 2_000 }, (_, i) => `w${i}`).join(' ');
    const { score, values } = compile(many, true);
    let depth = 0;
    let deepest = 0;
    for (const char of String(score)) {
      if (char === '(') deepest = Math.max(deepest, ++depth);
      if (char === ')') depth--;
    }
    expect(deepest).toBeLessThan(30);
    expect(values.length).toBe(2_000);
  });

  it('refuses more conditions than the embedded database can run', () => {
    const ranges = Array.from({ length: 20_000 }, (_, i) => `location:[${i % 90},0 TO 90,1]`).join(' ');
    expect(() => compile(ranges)).toThrow('more than 2000 conditions');
    expect(() => compile(Array.from({ length: 2_001 }, (_, i) => `w${i}`).join(' '))).toThrow(
      'more than 2000 conditions',
    );
  });
});

describe('the conditions of a request', () => {
  const clock = { now: new Date(0), timeZone: 'UTC' };

  it('are compiled once, and refer to the values of each statement', () => {
    const query = parseQuery('price:5 AND weight:2');
    const own = { ...tables, conditions: new Map() };
    const texts = [[], [7n], [7n, 8n]].map((before) => {
      const params = new Params();
      for (const value of before) params.add(value, 'int8');
      const text = conditionOf(query, { tables: own, params, ...clock });
      expect(params.values.slice(before.length)).toEqual([5n, 2]);
      return text;
    });
    expect(texts).toEqual([0, 1, 2].map((n) => `(d.price = $${n + 1}::int8 and d.weight = $${n + 2}::float8)`));
    expect([...own.conditions.keys()]).toEqual([query]);
  });

  it('count together', () => {
    const many = parseQuery(Array.from({ length: 1_500 }, (_, i) => `weight:[${i} TO ${i + 1}]`).join(' '));
    const context = { tables: { ...tables, conditions: new Map() }, params: new Params(), ...clock };
    conditionOf(many, context);
    expect(() => conditionOf(many, context)).toThrow(/more than 2000 conditions/);
  });
});
