import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  accept,
  changesOf,
  ENGINES,
  parseTestOutputs,
  TEST_MODULES,
  type TestPlace,
  testOutputs,
  testPlace,
  visible,
} from '../test/support.ts';
import { type Collection, createCollection } from './collections.ts';
import { commit } from './commit.ts';
import { listOperations } from './operations.ts';
import { retryFailed } from './retry.ts';
import type { Change } from './staging.ts';
import { openStore, type Store } from './store.ts';

describe.each(ENGINES)('outputs that were read at acceptance, on %s', (kind) => {
  let place: TestPlace;
  let remove: () => Promise<void>;
  let store: Store;
  let collection: Collection;
  /** What was read, by whom, after acceptance. */
  const read: [string, string | undefined][] = [];

  const open = (mark: string) =>
    openStore({
      ...place,
      modules: TEST_MODULES,
      mark,
      parseOutputs: (json, known) => {
        read.push([json, known]);
        return { ...parseTestOutputs(json), mark };
      },
    });

  beforeEach(async () => {
    ({ place, remove } = await testPlace(kind));
    store = await open('today');
    collection = await createCollection(store, 'shop');
    await accept(store, collection, [{ id: 'first', price: 0.5, title: 'x' }]);
    await commit(store, collection);
    read.length = 0;
  });

  afterEach(async () => {
    await store?.[Symbol.asyncDispose]();
    await remove?.();
  });

  /** As the gateway does: with what it read. */
  async function withOutputs(
    documents: readonly { import: string }[],
    mark: string | null = 'today',
  ): Promise<Change[]> {
    const changes = await changesOf(store, collection, documents);
    return changes.map((change, i) => ({
      ...(change as Extract<Change, { kind: 'add' }>),
      outputs: {
        ...parseTestOutputs(documents[i]?.import ?? ''),
        ...(mark === null ? { mark: undefined as never } : { mark }),
      },
    }));
  }

  const arrivals = () => store.engine.query(`select doc from ${collection.sqlSchema}.arrivals`);
  const document = (id: string, shape: readonly number[] = [1, 0, 0, 0]) => ({
    id,
    title: `the ${id}`,
    price: 1.5,
    labels: ['a', 'b', 'a'],
    location: '1.5,-2',
    import: testOutputs({ shape, names: ['red', id] }),
  });

  it('are not read again on PostgreSQL, and give the same documents as those that are', async () => {
    const documents = Array.from({ length: 30 }, (_, i) => document(`d${i}`, [i + 1, 1, 0, 0]));
    await accept(store, collection, await withOutputs(documents));
    expect(await arrivals()).toHaveLength(kind === 'postgres' ? 30 : 0);
    expect(await commit(store, collection)).toMatchObject({ applied: 30, failed: 0 });
    expect(read).toHaveLength(kind === 'postgres' ? 0 : 30);
    expect(await arrivals()).toEqual([]);

    const other = await createCollection(store, 'other');
    const plain = await changesOf(store, other, [{ id: 'first', price: 0.5, title: 'x' }, ...documents]);
    await accept(
      store,
      other,
      plain.map((change) => ({
        kind: 'add' as const,
        document: (change as Extract<Change, { kind: 'add' }>).document,
      })),
    );
    await commit(store, other);
    const rows = (S: string) =>
      store.engine.query(
        `select to_jsonb(d) - 'doc' - 'vf' - 'seq' as row, to_jsonb(v) - 'doc' as vector, x.json
           from ${S}.documents d left join ${S}.descriptors_shape v using (doc) left join ${S}.outputs x using (doc)
          order by id`,
      );
    expect(await rows(collection.sqlSchema)).toEqual(await rows(other.sqlSchema));
    const counts = (S: string) => store.engine.query(`select module, documents, unpublished from ${S}.described`);
    expect(await counts(collection.sqlSchema)).toEqual(await counts(other.sqlSchema));
    const words = (S: string) => store.engine.query(`select word from ${S}.words order by 1`);
    expect(await words(collection.sqlSchema)).toEqual(await words(other.sqlSchema));
  });

  it('are read again by who has other models or codebooks, with the mark they had', async () => {
    await accept(store, collection, await withOutputs([document('a')]));
    await store[Symbol.asyncDispose]();
    store = await open('tomorrow');
    await commit(store, collection);
    expect(read).toEqual([[document('a').import, 'today']]);
    expect(await visible(store, collection)).toEqual(['a', 'first']);
    expect(await store.engine.query(`select cell from ${collection.sqlSchema}.descriptors_shape`)).toEqual([
      { cell: 0 },
    ]);
  });

  it('are read again when there was no column for a field, or no mark', async () => {
    const [known] = await withOutputs([document('a')]);
    const [fresh] = await withOutputs([{ ...document('b'), size: 7 } as never]);
    const unmarked = await withOutputs([document('c')], null);
    await accept(store, collection, [known, fresh, ...unmarked] as Change[]);
    expect(await arrivals()).toHaveLength(kind === 'postgres' ? 1 : 0);
    await commit(store, collection);
    expect(await visible(store, collection, 'size')).toEqual([
      ['a', null],
      ['b', 7n],
      ['c', null],
      ['first', null],
    ]);
    const again = [document('b').import, document('c').import];
    expect(read.map(([json]) => json)).toEqual(kind === 'postgres' ? again : [document('a').import, ...again]);
    // From now on there is.
    await accept(store, collection, await withOutputs([{ ...document('e'), size: 8 } as never]));
    expect(await arrivals()).toHaveLength(kind === 'postgres' ? 1 : 0);
    await commit(store, collection);
    expect(await visible(store, collection, 'size')).toContainEqual(['e', 8n]);
  });

  it('leave nothing behind when they are superseded, deleted or never accepted', async () => {
    await accept(store, collection, await withOutputs([document('a'), document('a'), document('b'), document('c')]));
    await accept(store, collection, [{ kind: 'delete', id: 'b' }]);
    await accept(store, collection, [{ kind: 'delete-by-query', query: 'tint_names:c' }]);
    await commit(store, collection);
    expect(await visible(store, collection)).toEqual(['a', 'first']);
    expect(await arrivals()).toEqual([]);
    expect(await store.engine.query(`select doc from ${collection.sqlSchema}.descriptors_shape`)).toHaveLength(1);
    const { sqlSchema: S } = collection;
    const { stageChanges } = await import('./staging.ts');
    const staging = await stageChanges(store, collection);
    await staging.add(await withOutputs([document('z')]));
    await staging.discard();
    expect(await arrivals()).toEqual([]);
    expect(await store.engine.query(`select doc from ${S}.outputs where json like '%"z"%'`)).toEqual([]);
  });

  it('are there when one that the database refused is tried again', async () => {
    const S = collection.sqlSchema;
    await accept(store, collection, await withOutputs([document('a'), document('b'), document('c')]));
    await store.engine.query(`alter table ${S}.documents add constraint strange check (id <> 'b')`);
    expect(await commit(store, collection)).toMatchObject({ applied: 2, failed: 1 });
    expect(await visible(store, collection)).toEqual(['a', 'c', 'first']);
    await store.engine.query(`alter table ${S}.documents drop constraint strange`);
    await retryFailed(store, collection);
    expect(await commit(store, collection)).toMatchObject({ applied: 1, failed: 0 });
    expect(await visible(store, collection)).toEqual(['a', 'b', 'c', 'first']);
    const { operations } = await listOperations(store, collection, { limit: 10 });
    expect(new Set(operations.map(({ state }) => state))).toEqual(new Set(['visible']));
  });
});
