import { createRandom, parseQuery } from '@akin/domain';
import { readValues } from '@akin/searcher';
import { describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { sharedStore } from '../../../test/shared-store.ts';
import { accept, changesOf, ENGINES, openTestStore, testOutputs } from '../../../test/support.ts';
import { Staging } from '../../changes/accept/staging.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { createCollection } from '../../database/collections/collections.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import type { Collection } from '../../database/context.ts';
import { search } from '../search.ts';
import { InMemorySearch } from './in-memory-search.ts';
import { readValueLists } from './value-lists.ts';

const COUNT = 600;
const MARKS = [0, 0.1, -1.5, 1e21, 1e-7];
const SHADES = ['red', 'Red', "b'lue", '🟢 grün'];

interface Thing {
  readonly id: string;
  readonly shade?: string;
  readonly size?: number;
  readonly sold?: boolean;
  readonly mark?: number;
}

/** Queries, and what they should match. Values in memory cannot answer some of them. */
const CASES: readonly (readonly [query: string, matches: (thing: Thing) => boolean])[] = [
  ['shade:red', ({ shade }) => shade === 'red'],
  [`shade:("b'lue" "🟢 grün")`, ({ shade }) => shade === "b'lue" || shade === '🟢 grün'],
  ['shade:none', () => false],
  ['-shade:red', ({ shade }) => shade !== 'red'],
  ['-shade:(red Red)', ({ shade }) => shade?.toLowerCase() !== 'red'],
  ['-shade:none', () => true],
  ['-size:(0 1 2 3 4 5)', ({ size }) => size === undefined || size > 5],
  ['size:7', ({ size }) => size === 7],
  ['size:(1 2 2.5 8)^3', ({ size }) => [1, 2, 8].includes(size ?? 0)],
  ['size:(0 1 2 3 4 5 6 7)', ({ size }) => size !== undefined && size < 8],
  ['size:-3', ({ size }) => size === -3],
  ['sold:true', ({ sold }) => sold === true],
  ['-sold:true', ({ sold }) => sold !== true],
  ['size:1 shade:red', ({ size, shade }) => size === 1 || shade === 'red'],
  ['+size:1 +shade:red', ({ size, shade }) => size === 1 && shade === 'red'],
  ['(-size:1) (-size:2)', () => false],
  ['size:[1 TO 3] -size:1', ({ size }) => size === 2 || size === 3],
  ['size:{2 TO 4.5]', ({ size }) => size === 3 || size === 4],
  ['-size:[* TO 2}', ({ size }) => size === undefined || size > 1],
  ['size:([1 TO 2] 5)', ({ size }) => [1, 2, 5].includes(size ?? 0)],
  ['size:[9 TO 1]', () => false],
  ['size:[-1e30 TO 1e30]', ({ size }) => size !== undefined],
  ['size:*', ({ size }) => size !== undefined],
  ['-shade:*', ({ shade }) => shade === undefined],
  ['shade:r*', ({ shade }) => shade === 'red'],
  ['shade:?ed', ({ shade }) => shade?.endsWith('ed') === true],
  [`-shade:[Red TO "b'lue"]`, ({ shade }) => shade !== 'Red' && shade !== "b'lue"],
  [`shade:{"b'lue" TO red}`, ({ shade }) => shade === 'new'],
  ['shade:{ｚ TO *]', ({ shade }) => shade === '🟢 grün'],
  ['shade:[a TO z]', ({ shade }) => shade !== undefined && shade >= 'a' && shade <= 'z'],
  ['mark:"-0"', ({ mark }) => mark === 0],
  ['mark:("-1.5" 0.1)', ({ mark }) => mark === -1.5 || mark === 0.1],
  ['mark:[0 TO 0.1]', ({ mark }) => mark !== undefined && mark >= 0 && mark <= 0.1],
  ['mark:{-1.5 TO *]', ({ mark }) => mark !== undefined && mark > -1.5],
  ['-mark:[* TO 1e21}', ({ mark }) => mark === undefined || mark >= 1e21],
  ['id:t7', ({ id }) => id === 't7'],
];

describe.each(ENGINES)('columns in memory on %s', (kind) => {
  const random = createRandom(21);
  let store: Store;
  let collection: Collection;
  const things = new Map<string, Thing>();

  const made = (n: number): Thing & { import: string } => {
    const pick = Math.floor(random() * 10);
    const thing: Thing = {
      id: `t${n}`,
      ...(pick < 8 ? { shade: SHADES[pick % 4] as string } : {}),
      ...(random() < 0.9 ? { size: Math.floor(random() * 9) } : {}),
      ...(random() < 0.6 ? { sold: random() < 0.3 } : {}),
      ...(pick > 2 ? { mark: MARKS[Math.floor(random() * MARKS.length)] as number } : {}),
    };
    things.set(thing.id, thing);
    return { ...thing, import: testOutputs({ shape: [random() + 0.1, random(), random(), random()] }) };
  };
  const add = async (documents: readonly object[]) => {
    await accept(store, collection, documents);
    await commit(store, collection);
  };
  sharedStore(
    kind,
    async (opened) => {
      store = opened;
      collection = await createCollection(store, 'things');
      await add(Array.from({ length: COUNT }, (_, n) => made(n)));
      await store.engine.query(`analyze ${collection.sqlSchema}.documents`);
    },
    (location) => openTestStore(location, 0, { exactDocuments: 50 }),
  );

  const held = (from = store) => from.inMemory.loadedCollection(collection.id)?.columns;
  const find = (texts: readonly string[], isRemembered = false, from = store) => {
    const filters = texts.map((text) => parseQuery(text));
    const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
    return search(from, collection, {
      query: parseQuery('*:*'),
      filters,
      rank,
      rows: 5,
      ...(isRemembered ? {} : { uncached: new Set(filters) }),
    });
  };
  const check = async (cases: readonly (readonly [string, (thing: Thing) => boolean])[], isRemembered: boolean) => {
    const texts = cases.map(([text]) => text);
    const { numFound, hits, ranking } = await find(texts, isRemembered);
    const expected = [...things.values()].filter((thing) => cases.every(([, matches]) => matches(thing)));
    expect([texts, numFound, hits.length]).toEqual([texts, expected.length, Math.min(5, expected.length)]);
    for (const { id } of hits) expect(expected).toContainEqual(things.get(id));
    expect(ranking?.inMemory).toBe(true);
  };
  /** Makes the searcher read the columns of these filters. */
  const readColumns = async (from = store) => {
    for (const text of ['shade:red', 'size:1', 'sold:true', 'mark:0']) await find([text], false, from);
    await held(from)?.untilRead;
  };

  it('answer what the database would, before and after they are read, and over commits', async () => {
    // PGlite has no columns in memory.
    const cases = CASES.filter((_, i) => kind === 'postgres' || i % 5 === 0);
    for (const one of cases) for (const isRemembered of [false, true]) await check([one], isRemembered);
    await readColumns();
    expect(held()?.names).toHaveLength(kind === 'postgres' ? 4 : 0);
    for (const one of cases) for (const isRemembered of [false, true]) await check([one], isRemembered);
    const gone = Array.from({ length: 20 }, () => `t${Math.floor(random() * COUNT)}`);
    for (const id of gone) things.delete(id);
    const others = Array.from({ length: 20 }, (_, i) => made(COUNT - 10 + i));
    const last = { ...made(5_000), shade: 'new' };
    await add([...gone.map((id) => ({ kind: 'delete', id })), ...others, last]);
    things.set('t5000', { ...(things.get('t5000') as Thing), shade: 'new' });
    await check([['shade:new', ({ shade }) => shade === 'new']], false);
    for (const one of cases) await check([one], true);
  });

  it('leave a new filter to memory, but not what they cannot tell', async () => {
    await readColumns();
    await find(['shade:?ed', 'shade:red']);
    const { query } = pg.Client.prototype;
    const sent: unknown[] = [];
    const spy = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args) {
      if (/documents/.test(String(args[0]))) sent.push(args[0]);
      return Reflect.apply(query, this, args);
    });
    try {
      await find(['-shade:(red Red)', 'size:([3 TO 4] 6)', 'shade:[a TO b}', 'shade:re*']);
      expect(sent).toHaveLength(kind === 'postgres' ? 1 : 2);
      sent.length = 0;
      await find(['shade:b?lue']);
      expect(sent).toHaveLength(2);
    } finally {
      spy.mockRestore();
    }
  });

  it('are given back where memory does not suffice, and not read again soon', async () => {
    const one = { module: 'shape', documents: 1, dimensions: 4 };
    await using large = new InMemorySearch({ exactRows: 50 });
    expect(await large.read(store, collection, one)).toBe(true);
    await using inMemory = new InMemorySearch({ exactRows: 50, memory: large.use.bytes + 1_000 });
    expect(await inMemory.read(store, collection, one)).toBe(true);
    const small = { ...store, inMemory };
    for (let round = 0; round < 3; round++) {
      // Several need memory at the same time: each waits until the columns are given back.
      await Promise.all([readColumns(small), readColumns(small), readColumns(small)]);
      expect(held(small)?.names).toEqual([]);
      expect(inMemory.use.bytes).toBeLessThanOrEqual(inMemory.use.limit);
      expect((await find(['sold:true'], false, small)).ranking?.inMemory).toBe(true);
    }
  });

  it('are not read where filters would be given back for them', async () => {
    if (kind === 'pglite') return;
    await using measured = new InMemorySearch({ exactRows: 50 });
    const remembered = ['size:[0 TO 100]', 'shade:red'];
    const measuring = { ...store, inMemory: measured };
    await find(remembered, true, measuring);
    await held(measuring)?.untilRead;
    await held(measuring)?.drop();
    await using inMemory = new InMemorySearch({ exactRows: 50, memory: measured.use.bytes + 1_000 });
    expect(await inMemory.read(store, collection, { module: 'shape', documents: 1, dimensions: 4 })).toBe(true);
    const full = { ...store, inMemory };
    await find(remembered, true, full);
    await readColumns(full);
    expect([held(full)?.names, inMemory.use.filters]).toEqual([[], remembered.length]);
  });

  it('are given back when they have too many values by now', async () => {
    if (kind === 'pglite') return;
    const many = await createCollection(store, 'many');
    const addCodes = async (codes: readonly string[], from: number) => {
      const outputs = testOutputs({ shape: [1, 0, 0, 0] });
      const documents = codes.map((code, i) => ({
        id: `m${from + i}`,
        code,
        ...(from < 300 ? { import: outputs } : {}),
      }));
      const staging = new Staging(store, many);
      await staging.add(await changesOf(store, many, documents));
      await staging.accept();
      await commit(store, many);
    };
    const ask = async (text: string, from = store) => {
      const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
      const { numFound } = await search(from, many, {
        query: parseQuery('*:*'),
        filters: [parseQuery(text)],
        rank,
        rows: 1,
      });
      await from.inMemory.loadedCollection(many.id)?.columns.untilRead;
      return [numFound, from.inMemory.loadedCollection(many.id)?.columns.names];
    };
    await addCodes(
      Array.from({ length: 300 }, (_, n) => `c${n % 3}`),
      0,
    );
    await store.engine.query(`analyze ${many.sqlSchema}.documents`);
    const code = ((await loadSchema(store, many)).columns.get('code') as { sql: string }).sql;
    expect(await ask('code:c1')).toEqual([100, [code]]);
    await addCodes(
      Array.from({ length: 1_100 }, (_, n) => `only ${n}`),
      300,
    );
    expect(await ask('code:(c2 none)')).toEqual([100, []]);
    expect([await ask('code:c0'), await ask('-code:c0')]).toEqual([
      [100, []],
      [200, []],
    ]);
    // If the database expects few values but there are many, reading ends after one too many.
    const range = { after: -1n, upTo: 2n };
    const column = { sql: code, type: 'string' as const };
    const bytes = await store.engine.transaction((tx) => readValueLists(tx, many, column, range));
    expect([...readValues(bytes)]).toHaveLength(1_025);
    await using inMemory = new InMemorySearch({ exactRows: 50 });
    const fresh = { ...store, inMemory };
    expect([await ask('code:c1', fresh), await ask('code:c2', fresh)]).toEqual([
      [100, []],
      [100, []],
    ]);
  });

  it('are not read to collapse by them if their values are too long', async () => {
    await using inMemory = new InMemorySearch({ exactRows: 50 });
    const fresh = { ...store, inMemory };
    const { commit } = await find([], false, fresh);
    const shade = ((await loadSchema(store, collection)).columns.get('shade') as { sql: string }).sql;
    const readAtMost = (bytes?: number) =>
      store.engine.transaction(async (tx) =>
        held(fresh)?.loadWide([{ sql: shade, type: 'string' }], BigInt(commit), {
          ...tx,
          copy: (sql, maxBytes) => tx.copy(sql, bytes ?? maxBytes),
        }),
      );
    expect(await readAtMost(100)).toBeUndefined();
    // Nor by the next searches.
    expect(await readAtMost()).toBeUndefined();
  });

  it('leave filters that are in memory to one statement after a commit', async () => {
    const remembered = ['shade:red', '-size:(1 2)', 'sold:true'];
    await readColumns();
    await find(remembered, true);
    await add([made(7_000)]);
    await find([]);
    const { query } = pg.Client.prototype;
    const sent: unknown[] = [];
    const spy = jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args) {
      sent.push(args[0]);
      return Reflect.apply(query, this, args);
    });
    try {
      await find(remembered, true);
    } finally {
      spy.mockRestore();
    }
    // The matches that came, and the page.
    expect(sent.filter((one) => typeof one !== 'string' || /documents/.test(one))).toHaveLength(2);
  });

  it('answer no commit whose rows may have gone before they were read', async () => {
    await readColumns();
    const { commit: before } = await find([]);
    for (const n of [7_001, 7_002]) {
      await add([made(n)]);
      await find([]);
    }
    const { commit: last } = await find(['shade:none']);
    const shade = ((await loadSchema(store, collection)).columns.get('shade') as { sql: string }).sql;
    const asked = () => Promise.reject(new Error('the database was asked'));
    const test = { column: { sql: shade, type: 'string' as const }, values: new Set(['red']), conditions: [] };
    const results = [before, last - 1, last].map(async (commit) => {
      const reader = { read: asked, values: { source: store, tx: { query: asked, copy: asked } } };
      const found = await store.inMemory
        .loadedCollection(collection.id)
        ?.filters.load([{ key: undefined, test }], BigInt(commit), reader);
      await found?.loaded;
      return found?.filters.length;
    });
    const outcomes = await Promise.allSettled(results);
    expect(outcomes.map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
      kind === 'postgres' ? 'fulfilled' : 'rejected',
    ]);
  });

  it('are given back when filters that they answer need the memory', async () => {
    if (kind === 'pglite') return;
    await using measured = new InMemorySearch({ exactRows: 50 });
    const free = { ...store, inMemory: measured };
    await find([], false, free);
    await readColumns(free);
    await using inMemory = new InMemorySearch({ exactRows: 50, memory: measured.use.bytes + 1_000 });
    const small = { ...store, inMemory };
    await find([], false, small);
    await readColumns(small);
    expect(held(small)?.names).toEqual(held(free)?.names);
    const now = performance.now.bind(performance);
    const spy = jest.spyOn(performance, 'now').mockImplementation(() => now() + 60 * 60_000);
    for (let most = 0; most < 60; most++) {
      await find([`size:[-1000 TO ${100 + most}]`], true, small);
      expect(inMemory.use.bytes).toBeLessThanOrEqual(inMemory.use.limit);
    }
    expect(held(small)?.names).toEqual([]);
    // From now on, not since they were read.
    await readColumns(small).finally(() => spy.mockRestore());
    expect(held(small)?.names).toEqual([]);
  });
});
