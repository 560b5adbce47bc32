import { createRandom } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, ENGINES, openTestStore, testOutputs } from '../../test/support.ts';
import { maintain } from '../bulk/maintain.ts';
import { createCollection, dropCollection, listCollections } from '../collections/collections.ts';
import { commit } from '../commit/commit.ts';
import type { Collection, Store } from '../context.ts';
import { arrangeCells, optimize } from './arrange.ts';

const random = createRandom(7);

/** A vector near one of the corners of a cube in four dimensions. */
function shape(): number[] {
  const vector = Array.from({ length: 4 }, () => (random() < 0.5 ? -1 : 1) + (random() - 0.5) / 2);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

const document = (id: string) => ({ id, import: testOutputs({ shape: shape() }) });
const documents = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, i) => document(`${prefix}${String(i).padStart(4, '0')}`));

describe.each(ENGINES)('cells on %s', (kind) => {
  let store: Store;
  let collection: Collection;
  let S: string;

  sharedStore(
    kind,
    async (opened) => {
      store = opened;
      collection = await createCollection(store, 'shop');
      S = collection.sqlSchema;
    },
    (place) => openTestStore(place, 0, { exactDocuments: 100 }),
  );

  const add = async (rows: readonly object[]) => {
    await accept(store, collection, rows);
    await commit(store, collection);
  };
  const generations = () =>
    store.engine.query<{ number: number; state: string }>(`select number, state from ${S}.generations order by number`);
  const tables = async () =>
    (
      await store.engine.query<{ name: string }>(
        `select relname as name from pg_class where relnamespace = '${S}'::regnamespace and relname ~ '^cells_shape_[0-9]+$' order by 1`,
      )
    ).map(({ name }) => name);
  /** The cells hold what the descriptors hold, each row in the cell whose sizes and radii count it. */
  const whole = async () => {
    const [current] = await store.engine.query<{ number: number }>(
      `select number from ${S}.generations where state = 'current'`,
    );
    const [row] = await store.engine.query<{ missing: bigint; extra: bigint; rows: bigint }>(
      `select count(*) filter (where c.doc is null) as missing, count(*) filter (where v.doc is null) as extra,
              count(c.doc) as rows
         from ${S}.descriptors_shape v full join ${S}.cells_shape_${current?.number} c on c.doc = v.doc and c.vector = v.vector`,
    );
    return row;
  };

  /** How many rows each cell of the current generation is told to have, and how many it has. */
  const sizes = async () => {
    const [row] = await store.engine.query<{ number: number; sizes: Buffer }>(
      `select number, sizes from ${S}.generations where state = 'current'`,
    );
    const told = [...new Int32Array(Uint8Array.from(row?.sizes ?? []).buffer)];
    const rows = await store.engine.query<{ cell: number; rows: number }>(
      `select cell, count(*)::int as rows from ${S}.cells_shape_${row?.number} group by cell`,
    );
    const counted = new Map(rows.map(({ cell, rows: count }) => [cell, count]));
    return { told, counted: told.map((_, cell) => counted.get(cell) ?? 0) };
  };

  it('are not made for collections that are ranked exactly', async () => {
    await add(documents('a', 100));
    await arrangeCells(store, await listCollections(store));
    expect(await generations()).toEqual([]);
  });

  it('are made when a collection grows beyond, about twice as many as the square root of its rows', async () => {
    await add(documents('b', 125));
    await arrangeCells(store, await listCollections(store));
    expect(await generations()).toEqual([{ number: 1, state: 'current' }]);
    expect(await whole()).toEqual({ missing: 0n, extra: 0n, rows: 225n });
    const [row] = await store.engine.query<{ cells: bigint; sorted: boolean }>(
      `select count(distinct cell) as cells,
              array_agg(cell order by ctid) = array_agg(cell order by cell) as sorted from ${S}.cells_shape_1`,
    );
    expect(Number(row?.cells)).toBeGreaterThan(20);
    expect(Number(row?.cells)).toBeLessThan(40);
    expect(row?.sorted).toBe(true);
    await arrangeCells(store, await listCollections(store));
    expect(await generations()).toHaveLength(1);
  });

  it('take in what commits bring and lose what they remove', async () => {
    await add([...documents('a', 10), ...documents('c', 40), { kind: 'delete', id: 'b0000' }]);
    await maintain(store);
    expect(await whole()).toEqual({ missing: 0n, extra: 0n, rows: 264n });
  });

  it('are as large as they are told to be, however often rows are replaced', async () => {
    for (let round = 0; round < 3; round++) {
      await add(documents('b', 100));
      await maintain(store);
    }
    const { told, counted } = await sizes();
    expect(told).toEqual(counted);
    await add([{ kind: 'delete', id: 'b0000' }]);
    await maintain(store);
    expect(await whole()).toEqual({ missing: 0n, extra: 0n, rows: 264n });
  });

  it('are made anew when the collection has grown fourfold, and the old ones go', async () => {
    await add(documents('d', 4 * 225 - 264));
    await arrangeCells(store, await listCollections(store));
    expect(await generations()).toMatchObject([{ number: 1, state: 'retired' }, { state: 'current' }]);
    expect(await whole()).toEqual({ missing: 0n, extra: 0n, rows: 900n });
    await arrangeCells(store, await listCollections(store));
    expect(await tables()).toHaveLength(1);
    expect(await generations()).toHaveLength(1);
  });

  it('are made anew when somebody asks for it, once', async () => {
    const [before] = await generations();
    await optimize(store, collection);
    await arrangeCells(store, await listCollections(store));
    await arrangeCells(store, await listCollections(store));
    const after = await generations();
    expect(after).toHaveLength(1);
    expect(after[0]?.number).toBeGreaterThan(before?.number ?? 0);
    await arrangeCells(store, await listCollections(store));
    expect(await generations()).toEqual(after);
  });

  it('miss nothing that commits write and remove while they are made', async () => {
    await optimize(store, collection);
    let done = false;
    const arranging = arrangeCells(store, await listCollections(store)).finally(() => {
      done = true;
    });
    let round = 0;
    for (; !done || round < 3; round++) {
      await add([...documents(`e${round}-`, 20), ...documents('a', 30), { kind: 'delete', id: `d00${10 + round}` }]);
      await maintain(store);
    }
    await arranging;
    const [rows] = await store.engine.query<{ rows: bigint }>(`select count(*) as rows from ${S}.descriptors_shape`);
    expect(await whole()).toMatchObject({ missing: 0n, rows: rows?.rows });
    const { told, counted } = await sizes();
    expect(told).toEqual(counted);
  });

  it('are swept when the process that made them ended, at any step', async () => {
    const [before] = (await generations()).filter(({ state }) => state === 'current');
    await optimize(store, collection);
    const end = new AbortController();
    const arranging = arrangeCells(store, await listCollections(store), end.signal);
    end.abort();
    await arranging;
    // As after a kill: nobody got to clean up.
    await store.engine.query(
      `insert into ${S}.generations (module, number, state, at, documents, dimensions, centroids, groups, sizes, radii)
       select module, nextval('${S}.generation'), 'building', now() - interval '1 hour', documents, dimensions, centroids, groups, sizes, radii
         from ${S}.generations where state = 'current'`,
    );
    const left = (await generations()).find(({ state }) => state === 'building');
    await store.engine.query(
      `create table ${S}.cells_shape_${left?.number} (doc bigint primary key, cell int, vector halfvec(4))`,
    );
    await arrangeCells(store, await listCollections(store));
    await arrangeCells(store, await listCollections(store));
    expect((await generations()).map(({ state }) => state)).toEqual(['current']);
    expect((await generations())[0]?.number).toBeGreaterThan(before?.number ?? 0);
    expect(await tables()).toHaveLength(1);
    expect(await whole()).toMatchObject({ missing: 0n });
  });

  it('go with their collection', async () => {
    const other = await createCollection(store, 'other');
    await accept(store, other, documents('a', 150));
    await commit(store, other);
    await arrangeCells(store, await listCollections(store));
    await dropCollection(store, other);
    await arrangeCells(store, await listCollections(store));
    expect(await store.engine.query(`select 1 from pg_namespace where nspname = $1`, [other.sqlSchema])).toEqual([]);
  });
});
