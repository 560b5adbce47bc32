import type { Collection, Store } from '../context.ts';
import { binaryArray, encodeHalfvec } from '../engine/binary.ts';
import type { Queryable } from '../engine/engine.ts';
import { cellTable, finderOf, type Generation, liveGenerations, lockGenerations, pack } from './generations.ts';

/** The event loop is held no longer: requests of others are between. */
const SLICE_MILLISECONDS = 3;

/** A row of descriptors that a commit brings. */
export interface NewRow {
  readonly doc: bigint;
  readonly vector: Float32Array;
}

/** Vectors with their cells, in each generation that was live when they were assigned. */
export type Assigned = ReadonlyMap<number, ReadonlyMap<Float32Array, number>>;

/**
 * Finds the cells of new rows before the transaction that writes them, so that it is short: 0.03 ms a vector of 256
 * numbers among 1,000 cells.
 *
 * @param vectors by module
 */
export async function assignCells(
  store: Store,
  collection: Collection,
  vectors: ReadonlyMap<string, readonly Float32Array[]>,
): Promise<Assigned> {
  const assigned = new Map<number, Map<Float32Array, number>>();
  if (vectors.size === 0) return assigned;
  let since = performance.now();
  const db: Queryable = { query: (sql, params) => store.engine.query(sql, params, 'bulk') };
  for (const generation of await liveGenerations(db, collection.sqlSchema)) {
    const own = vectors.get(generation.module) ?? [];
    if (own.length === 0) continue;
    const finder = await finderOf(store, collection, generation, db);
    const cells = new Map<Float32Array, number>();
    for (const vector of own) {
      cells.set(vector, finder.cellOf(vector));
      if (performance.now() - since < SLICE_MILLISECONDS) continue;
      await new Promise((resolve) => setImmediate(resolve));
      since = performance.now();
    }
    assigned.set(generation.number, cells);
  }
  return assigned;
}

/** Writes new rows of descriptors into the cells of each live generation. */
export async function insertIntoCells(
  tx: Queryable,
  store: Store,
  collection: Collection,
  rows: ReadonlyMap<string, readonly NewRow[]>,
  assigned: Assigned,
): Promise<void> {
  if (rows.size === 0) return;
  await lockGenerations(tx, collection, 'shared');
  for (const generation of await liveGenerations(tx, collection.sqlSchema, 'for update')) {
    const own = rows.get(generation.module) ?? [];
    if (own.length === 0) continue;
    const finder = await finderOf(store, collection, generation, tx);
    const known = assigned.get(generation.number);
    // Those of a generation that began a moment ago are not assigned yet.
    const cells = own.map(({ vector }) => known?.get(vector) ?? finder.cellOf(vector));
    await tx.query(
      `insert into ${cellTable(collection.sqlSchema, generation.module, generation.number)} (doc, cell, vector)
       select * from unnest($1::bigint[], $2::int[], $3::halfvec[])`,
      [
        own.map(({ doc }) => doc),
        cells,
        binaryArray(
          store.halfvecOid,
          own.map(({ vector }) => encodeHalfvec(vector)),
        ),
      ],
    );
    const { sizes, radii } = generation;
    for (const [i, { vector }] of own.entries()) {
      const cell = cells[i] as number;
      sizes[cell] = (sizes[cell] as number) + 1;
      radii[cell] = Math.max(radii[cell] as number, finder.distance(cell, vector));
    }
    await saveExtents(tx, collection, generation);
  }
}

/**
 * Removes rows from the cells of all live generations. Radii stay: they may be too large, and never too small. Sizes
 * that grew with every replaced row would let a search believe that it saw many when it saw a few.
 */
export async function removeFromCells(tx: Queryable, collection: Collection, docs: readonly bigint[]): Promise<void> {
  await lockGenerations(tx, collection, 'shared');
  for (const generation of await liveGenerations(tx, collection.sqlSchema, 'for update')) {
    const { module, number, sizes } = generation;
    const removed = await tx.query<{ cell: number }>(
      `delete from ${cellTable(collection.sqlSchema, module, number)} where doc = any($1::bigint[]) returning cell`,
      [docs],
    );
    for (const { cell } of removed) sizes[cell] = (sizes[cell] as number) - 1;
    if (removed.length > 0) await saveExtents(tx, collection, generation);
  }
}

async function saveExtents(tx: Queryable, collection: Collection, generation: Generation): Promise<void> {
  const { module, number, sizes, radii } = generation;
  await tx.query(
    `update ${collection.sqlSchema}.generations set sizes = $3, radii = $4 where module = $1 and number = $2`,
    [module, number, pack(sizes), pack(radii)],
  );
}
