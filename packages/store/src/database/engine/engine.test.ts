import { AkinError, writeHalves } from '@akin/domain';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { openEngine, testLocation } from '../../../test/support.ts';
import { encodeHalfvec, halfvecOfHalves, intArray, longArray } from './binary.ts';
import { CopyRows } from './copy-rows.ts';
import type { Engine, SqlValue } from './engine.ts';

describe.each(['pglite', 'postgres'] as const)('the query function on %s', (kind) => {
  let engine: Engine;
  let remove: () => Promise<void>;

  beforeAll(async () => {
    const made = await testLocation(kind);
    remove = made.remove;
    engine = await openEngine(made.location);
    await engine.query('create extension if not exists vector');
    await engine.query('create table numbers (n int primary key)');
  });

  afterAll(async () => {
    await engine?.[Symbol.asyncDispose]();
    await remove?.();
  });

  it('gives every column type the same value on both engines', async () => {
    const [row] = await engine.query(`
      select 9007199254740993::int8 as long, 7::int4 as int, 0.1::float8 as double, true as yes, null as nothing,
             'text' as text, '2023-02-28T12:00:00.123Z'::timestamptz as date, '\\x00ff'::bytea as bytes,
             '{a,"b c",null,"d\\"e\\\\"}'::text[] as texts, '{1,9007199254740993}'::int8[] as longs,
             '{0.5,2}'::float8[] as doubles, '{t,f}'::bool[] as booleans, '{"n": 9007199254740993}'::json as json,
             1.10::numeric as numeric, halfvec_send('[1,-0.5]'::halfvec(2)) as vector`);
    expect(row).toEqual({
      long: 9007199254740993n,
      int: 7,
      double: 0.1,
      yes: true,
      nothing: null,
      text: 'text',
      date: new Date('2023-02-28T12:00:00.123Z'),
      bytes: Buffer.from([0, 255]),
      texts: ['a', 'b c', null, 'd"e\\'],
      longs: [1n, 9007199254740993n],
      doubles: [0.5, 2],
      booleans: [true, false],
      json: '{"n": 9007199254740993}',
      numeric: '1.10',
      vector: Buffer.from([0, 2, 0, 0, 0x3c, 0, 0xb8, 0]),
    });
  });

  it('copies rows in binary form, and continues after a failed copy', async () => {
    const copies = await engine.transaction(async (tx) => {
      await expect(tx.copy('select n from generate_series(1, 3000) n', 1_000)).rejects.toThrow('more than 1000 bytes');
      return [
        await tx.copy("select n::int8, '[1,-0.5]'::halfvec(2) from generate_series(1, 3000) n"),
        await tx.copy('select 1 where false', 21),
      ];
    });
    const [many = new Uint8Array(), none = new Uint8Array()] = copies.map((bytes) => Buffer.from(bytes));
    // The header and the end; the number of fields, two lengths, and their contents.
    expect(none).toHaveLength(19 + 2);
    expect(many).toHaveLength(19 + 3_000 * (2 + 4 + 8 + 4 + 8) + 2);
    expect(many.subarray(19 + 26, 19 + 52)).toEqual(
      Buffer.from([0, 2, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 8, 0, 2, 0, 0, 0x3c, 0, 0xb8, 0]),
    );
    expect(copies[0]?.buffer).toBeInstanceOf(SharedArrayBuffer);
    await expect(engine.transaction((tx) => tx.copy('select 1 / n from generate_series(-5, 5) n'))).rejects.toThrow(
      AkinError,
    );
    expect(await engine.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('adds rows to several tables at once, or none of them', async () => {
    await engine.query('create table copied (long bigint, text text, bytes bytea, yes boolean)');
    await engine.query('create table unique_numbers (n int primary key)');
    const rowsOf = (long: bigint | null, ints: readonly number[]) => {
      const copied = new CopyRows();
      copied.row(4);
      const location = copied.long(long);
      copied.text('Café, "x"\n');
      copied.binary(Buffer.alloc(100_000, 7));
      copied.boolean(true);
      copied.row(4);
      for (let i = 0; i < 4; i++) copied.null();
      if (long !== null) copied.setLong(location, long + 1n);
      const numbers = new CopyRows();
      for (const int of ints) {
        numbers.row(1);
        numbers.int(int);
      }
      return [
        { into: 'copied (long, text, bytes, yes)', rows: copied },
        { into: 'unique_numbers (n)', rows: numbers },
      ];
    };
    await engine.copyIn(rowsOf(2n ** 62n, [-1, -2]));
    await expect(engine.copyIn(rowsOf(5n, [-3, -1]))).rejects.toMatchObject({ code: 'conflict' });
    const isRefused = engine.transaction(async (tx) => {
      await tx.copyIn(rowsOf(null, [-4]));
      await tx.query('select 1 / 0');
    });
    await expect(isRefused).rejects.toThrow(AkinError);
    expect(await engine.query('select long, text, octet_length(bytes) as bytes, yes from copied')).toEqual([
      { long: 2n ** 62n + 1n, text: 'Café, "x"\n', bytes: 100_000, yes: true },
      { long: null, text: null, bytes: null, yes: null },
    ]);
    expect(await engine.query('select n from unique_numbers order by n')).toEqual([{ n: -2 }, { n: -1 }]);
  });

  it('takes whole columns in binary form', async () => {
    const sql = 'select $1::bigint[] as longs, $2::int[] as ints, $3::bigint[] as none, $4::halfvec(4)::text as vector';
    const numbers = Float32Array.of(1, -0, -(2 ** -24), 0.333251953125);
    const halves = new Uint8Array(8);
    writeHalves(numbers, halves, 0);
    const longs = [-(2n ** 63n), null, 2n ** 63n - 1n];
    for (const vector of [encodeHalfvec(numbers), halfvecOfHalves(halves)]) {
      const ints = [-(2 ** 31), 0, 2 ** 31 - 1];
      expect(await engine.query(sql, [longArray(longs), intArray(ints), longArray([]), vector])).toEqual([
        { longs, ints, none: [], vector: '[1,-0,-5.9604645e-08,0.33325195]' },
      ]);
    }
  });

  it('accepts every parameter type and returns it unchanged', async () => {
    const date = new Date('1999-12-31T23:59:59.999Z');
    const [row] = await engine.query(
      `select $1::int8 as long, $2::float8 as double, $3::boolean as yes, $4::text as text, $5::timestamptz as date,
              $6::bytea as bytes, $7::text[] as texts, $8::int8[] as longs, $9::halfvec(2)::text as vector, $10::text as nothing`,
      [
        -(2n ** 63n),
        1e-320,
        false,
        'ü"\\\'🙂',
        date,
        new Uint8Array([1, 2]),
        ['a"b', '\\', '', '{}'],
        [1n, 2n],
        Buffer.from([0, 2, 0, 0, 0x3c, 0, 0xb8, 0]),
        null,
      ],
    );
    expect(row).toEqual({
      long: -(2n ** 63n),
      double: 1e-320,
      yes: false,
      text: 'ü"\\\'🙂',
      date,
      bytes: Buffer.from([1, 2]),
      texts: ['a"b', '\\', '', '{}'],
      longs: [1n, 2n],
      vector: '[1,-0.5]',
      nothing: null,
    });
  });

  it.each([
    '0001-01-01T00:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
    '+010000-01-01T00:00:00.000Z',
    '-000001-03-01T00:00:00.000Z',
  ])('keeps the instant %s', async (text) => {
    const rows = await engine.query<{ date: Date }>('select $1::timestamptz as date', [new Date(text)]);
    expect(rows.map(({ date }) => date.toISOString())).toEqual([text]);
  });

  it('commits a transaction, and nothing of one that threw', async () => {
    await engine.transaction(async (tx) => {
      await tx.query('insert into numbers values (1)');
    });
    const failing = engine.transaction(async (tx) => {
      await tx.query('insert into numbers values (2)');
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow();
    expect(await engine.query('select n from numbers')).toEqual([{ n: 1 }]);
  });

  it('continues after an error inside a transaction', async () => {
    const failing = engine.transaction((tx) => tx.query('select 1/0'));
    await expect(failing).rejects.toMatchObject({ code: 'bad-request' });
    expect(await engine.query('select 1 as one')).toEqual([{ one: 1 }]);
  });

  it('refuses to write inside a snapshot', async () => {
    const writing = engine.transaction((tx) => tx.query('insert into numbers values (3)'), { snapshot: true });
    await expect(writing).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('returns the result of a snapshot before its end is confirmed, and keeps its connection until then', async () => {
    const { query } = pg.Client.prototype;
    const sent: unknown[] = [];
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const spy = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args) {
      sent.push(args[0]);
      const send = () => Reflect.apply(query, this, args);
      return args[0] === 'commit' ? ended.then(send) : send();
    });
    try {
      expect(await engine.transaction((tx) => tx.query('select 1 as one'), { snapshot: true })).toEqual([{ one: 1 }]);
      expect(sent.at(-1)).toBe('commit');
      const { total, idle } = engine.poolUse() ?? { total: 1, idle: 0 };
      expect(total - idle).toBe(1);
      const other = engine.query('select 2 as two');
      if (kind === 'pglite') {
        await new Promise(setImmediate);
        expect(sent.at(-1)).toBe('commit');
      }
      end();
      expect(await other).toEqual([{ two: 2 }]);
      while (engine.poolUse()?.idle !== engine.poolUse()?.total) await new Promise(setImmediate);
    } finally {
      spy.mockRestore();
    }
  });

  describe('what it prepares', () => {
    const options = { timeoutMilliseconds: 10_000, prepared: true };
    const read = (sql: string, params: readonly SqlValue[] = []) => engine.read(sql, params, options);
    /** On the connection that was used last, which is also the next one. */
    const names = async () => (await engine.query('select name from pg_prepared_statements')).length;

    it('contains only frequent statements, and at most 50', async () => {
      await read('select $1::int4 as once', [1]);
      expect(await names()).toBe(0);
      for (const n of [1, 2, 3, 4]) expect(await read('select $1::int4 as n', [n])).toEqual([{ n }]);
      expect(await names()).toBe(1);
      for (let i = 0; i < 60; i++) {
        for (const n of [1, 2, 3]) expect(await read(`select $1::int4 + ${i} as n`, [n])).toEqual([{ n: n + i }]);
      }
      expect(await read('select $1::int4 as n', [5])).toEqual([{ n: 5 }]);
      expect(await names()).toBeLessThanOrEqual(50);
    });

    it('uses the present columns of a table', async () => {
      await engine.query('create table changing (n int4); insert into changing values (1)');
      for (let i = 0; i < 4; i++) expect(await read('select * from changing')).toEqual([{ n: 1 }]);
      await engine.query('alter table changing alter n type text');
      expect(await read('select * from changing')).toEqual([{ n: '1' }]);
      await engine.query('alter table changing add m int4');
      expect(await read('select * from changing')).toEqual([{ n: '1', m: null }]);
      await engine.query('drop table changing');
      await expect(read('select * from changing')).rejects.toMatchObject({ code: 'not-found' });
    });

    it('is sent as text if the server has forgotten its name', async () => {
      for (let i = 0; i < 4; i++) await read('select 7 as seven');
      await engine.query('deallocate all');
      expect(await read('select 7 as seven')).toEqual([{ seven: 7 }]);
    });
  });

  it('keeps concurrent transactions apart', async () => {
    await engine.query('create table counter (n int)');
    await engine.query('insert into counter values (0)');
    const add = () =>
      engine.transaction(async (tx) => {
        const [row] = await tx.query<{ n: number }>('select n from counter for update');
        await tx.query('update counter set n = $1', [(row?.n ?? 0) + 1]);
      });
    await Promise.all(Array.from({ length: 20 }, add));
    expect(await engine.query('select n from counter')).toEqual([{ n: 20 }]);
  });

  it('says internal, and nothing about the statement, if the statement itself is wrong', async () => {
    await expect(engine.query('selec 1')).rejects.toMatchObject({
      code: 'internal',
      message: expect.not.stringContaining('selec'),
    });
  });
});
