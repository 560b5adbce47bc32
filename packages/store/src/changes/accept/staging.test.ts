import { onPostgres } from '@akin/testing';
import { describe, expect, it, jest } from '@jest/globals';
import { freshCollections } from '../../../test/fresh-collections.ts';
import { accept, changesOf, ENGINES, remove, testOutputs, visible } from '../../../test/support.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import type { Collection } from '../../database/context.ts';
import { getDocuments } from '../../search/read.ts';
import { commit } from '../commit/commit.ts';
import type { Store } from '../context.ts';
import { listOperations } from './operations.ts';
import { removeRequest } from './requests.ts';
import { Staging } from './staging.ts';

describe.each(ENGINES)('the acceptance of changes on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;
  freshCollections(kind, (fresh) => {
    ({ store, collection } = fresh);
  });

  itOnPostgres('numbers operations across requests, without gaps', async () => {
    expect(await accept(store, collection, [{ id: 'a' }, { id: 'b' }])).toEqual({ first: 1, last: 2, count: 2 });
    expect(await accept(store, collection, [])).toEqual({ first: 3, last: 2, count: 0 });
    expect(await accept(store, collection, [remove('a')])).toEqual({ first: 3, last: 3, count: 1 });
  });

  it('shows nothing of a request before a commit, and never anything of a discarded one', async () => {
    const discarded = new Staging(store, collection);
    await discarded.add(await changesOf(store, collection, [{ id: 'never', brandnew: 1 }]));
    await discarded.flush();
    await accept(store, collection, [{ id: 'a', price: 5 }]);
    expect(await visible(store, collection)).toEqual([]);
    await discarded.discard();
    await commit(store, collection);
    expect(await visible(store, collection)).toEqual(['a']);
    expect((await loadSchema(store, collection)).fields.has('brandnew')).toBe(false);
    const S = collection.sqlSchema;
    expect(await store.engine.query(`select request from ${S}.requests`)).toHaveLength(1);
  });

  it('removes the rows of a request unless it was accepted', async () => {
    const S = collection.sqlSchema;
    const lastRequest = async () => {
      const rows = await store.engine.query<{ request: bigint }>(`select request from ${S}.requests order by request`);
      return rows.at(-1)?.request as bigint;
    };
    const staged = new Staging(store, collection);
    await staged.add(await changesOf(store, collection, [{ id: 'a' }]));
    await staged.flush();
    await removeRequest(store, collection, await lastRequest());
    // Its process goes on.
    await staged.add(await changesOf(store, collection, [{ id: 'b' }]));
    await expect(staged.accept()).rejects.toThrow('was abandoned');
    await staged.discard();
    expect(await store.engine.query(`select from ${S}.operations`)).toEqual([]);

    await accept(store, collection, [{ id: 'c' }]);
    await removeRequest(store, collection, await lastRequest());
    await commit(store, collection);
    expect(await visible(store, collection)).toEqual(['c']);
  });

  itOnPostgres('uses the memory of rows again for the rows of later requests', async () => {
    const changes = await changesOf(store, collection, [{ id: 'a', import: testOutputs({ shape: [1, 0, 0, 0] }) }]);
    const stage = async () => {
      const staging = new Staging(store, collection);
      await staging.add(changes);
      await staging.accept();
    };
    await stage();
    const allocated = jest.spyOn(Buffer, 'allocUnsafeSlow');
    for (let i = 0; i < 10; i++) await stage();
    expect(allocated).not.toHaveBeenCalled();
    allocated.mockRestore();
  });

  it('keeps every value as it was sent', async () => {
    const document = {
      id: 'http://x/1 :\u{1f642}"\'\\{}',
      image: 'x.jpg',
      labels: ['a "quoted"', 'b\\c', '', '{}', 'null', 'ü, ö'],
      location: '52.5,-13.25',
      yes: false,
      long: 5,
      double: 0.1,
      date: '2020-02-29T12:00:00.123+02:00',
      string: 'tab\tnewline\n"quote" \\ backslash',
      'né "n"': 'x',
      import: testOutputs({ shape: [0.5, -0.25, 0, 1], names: ['dark red', 'a"b'] }),
    };
    await accept(store, collection, [document]);
    await commit(store, collection);
    const { import: _, ...own } = document;
    const shown = ['*', 'shape_cluster', 'shape_descriptor'];
    const { documents } = await getDocuments(store, collection, [document.id], shown);
    expect(Object.fromEntries(documents.get(document.id) ?? [])).toEqual({
      ...own,
      location: { lat: 52.5, lon: -13.25 },
      long: 5n,
      date: new Date('2020-02-29T10:00:00.123Z'),
      tint_names: ['dark red', 'a"b'],
      tint_isolated: true,
      tint_freq: [0.25, 0.75],
      tint_free: [0n, 8n],
      shape_descriptor: '0.5,-0.25,0,1',
      shape_cluster: 3n,
      shape_rerank: -(2n ** 62n),
    });
    const words = await store.engine.query(
      `select 1 from ${collection.sqlSchema}.documents where words @@ 'quoted & backslash & dark'::tsquery`,
    );
    expect(words).toHaveLength(1);
  });

  it('gives a field the type of the first accepted value if two clients race, and converts the other', async () => {
    const first = new Staging(store, collection);
    const second = new Staging(store, collection);
    await first.add(await changesOf(store, collection, [{ id: 'a', price: 1.5, code: 'x' }]));
    await second.add(await changesOf(store, collection, [{ id: 'b', price: 5, code: 1.1 }]));
    await first.accept();
    await second.accept();
    await commit(store, collection);
    const { fields } = await loadSchema(store, collection);
    expect([fields.get('price')?.type, fields.get('code')?.type]).toEqual(['double', 'string']);
    expect(await visible(store, collection, 'price')).toEqual([
      ['a', 1.5],
      ['b', 5],
    ]);
    expect(await visible(store, collection, 'code')).toEqual([
      ['a', 'x'],
      ['b', '1.1'],
    ]);
  });

  itOnPostgres(
    'refuses a whole request whose values do not fit a type that another client has just defined',
    async () => {
      const first = new Staging(store, collection);
      const second = new Staging(store, collection);
      await first.add(await changesOf(store, collection, [{ id: 'a', price: 5 }]));
      await second.add(
        await changesOf(store, collection, [
          { id: 'b', other: 1 },
          { id: 'c', price: 1.5 },
          { id: 'd', price: 2.5 },
        ]),
      );
      await first.accept();
      await expect(second.accept()).rejects.toMatchObject({
        code: 'bad-request',
        message: expect.stringContaining('"price"'),
        details: [
          { position: 1, id: 'c' },
          { position: 2, id: 'd' },
        ],
      });
      const { fields } = await loadSchema(store, collection);
      expect(fields.get('price')?.type).toBe('long');
      expect(fields.has('other')).toBe(false);
      expect((await listOperations(store, collection, { limit: 10 })).operations).toHaveLength(1);
    },
  );

  it('accepts many concurrent requests', async () => {
    const accepted = await Promise.all(
      Array.from({ length: 30 }, (_, i) => accept(store, collection, [{ id: `d${i}`, [`f${i % 7}`]: i }])),
    );
    expect(accepted.map(({ first }) => first).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 30 }, (_, i) => i + 1),
    );
    await commit(store, collection);
    expect(await visible(store, collection)).toHaveLength(30);
  });

  it('adds a field during a long search', async () => {
    await accept(store, collection, [{ id: 'a' }]);
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const searching = store.engine.transaction(
      async (tx) => {
        await tx.query(`select * from ${collection.sqlSchema}.documents`);
        // PGlite has one connection: nothing else runs during a search.
        if (kind === 'postgres') await released;
      },
      { snapshot: true },
    );
    const accepting = accept(store, collection, [{ id: 'b', added: 1 }]);
    if (kind === 'postgres') {
      const waiting =
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like 'alter%'";
      while ((await store.engine.query(waiting)).length === 0);
      // Others still read while the column waits for its lock.
      await store.engine.query(`select * from ${collection.sqlSchema}.documents`);
    }
    release();
    await searching;
    expect(await accepting).toMatchObject({ count: 1 });
  });
});
