import { type NewRow, readArrivals, readVectors } from '../arrivals.ts';
import { descriptorTable } from '../collection-tables.ts';
import type { Collection } from '../collections.ts';
import type { Queryable } from '../engine/engine.ts';
import type { Store } from '../store.ts';
import { cellTable, finderOf, type Generation, liveGenerations, lockGenerations, pack } from './generations.ts';

/** The event loop is held no longer: requests of others are between. */
const SLICE_MILLISECONDS = 3;

/** Where new rows belong. */
export interface Assigned {
  /** Vectors with their cells, in each generation that was live when they were assigned. */
  readonly cells: ReadonlyMap<number, ReadonlyMap<Float32Array, number>>;
  /** The rows of arrivals, of the modules of those generations. */
  readonly arrived: ReadonlyMap<string, readonly NewRow[]>;
}

/**
 * Finds the cells of new rows before the transaction that writes them, so that it is short: 0.03 ms a vector of 256
 * numbers among 1,000 cells.
 *
 * @param vectors by module
 * @param docs of arrivals: theirs are read where there are cells
 */
export async function assignCells(
  store: Store,
  collection: Collection,
  vectors: ReadonlyMap<string, readonly Float32Array[]>,
  docs: readonly bigint[],
): Promise<Assigned> {
  const assigned = new Map<number, Map<Float32Array, number>>();
  const arrived = new Map<string, readonly NewRow[]>();
  if (vectors.size === 0 && docs.length === 0) return { cells: assigned, arrived };
  let since = performance.now();
  const db: Queryable = { query: (sql, params) => store.engine.query(sql, params, 'bulk') };
  for (const generation of await liveGenerations(db, collection.sqlSchema)) {
    const { module, number } = generation;
    const read = arrived.get(module) ?? (await readArrivals(db, collection, module, docs));
    arrived.set(module, read);
    const own = [...(vectors.get(module) ?? []), ...read.map(({ vector }) => vector)];
    if (own.length === 0) continue;
    const finder = await finderOf(store, collection, generation, db);
    const cells = new Map<Float32Array, number>();
    for (const vector of own) {
      cells.set(vector, finder.cellOf(vector));
      if (performance.now() - since < SLICE_MILLISECONDS) continue;
      await new Promise((resolve) => setImmediate(resolve));
      since = performance.now();
    }
    assigned.set(number, cells);
  }
  return { cells: assigned, arrived };
}

/**
 * Writes new rows of descriptors, which are in their tables by now, into the cells of each live generation.
 *
 * @param rows by module
 * @param docs of arrivals
 */
export async function insertIntoCells(
  tx: Queryable,
  store: Store,
  collection: Collection,
  rows: ReadonlyMap<string, readonly NewRow[]>,
  docs: ReadonlySet<bigint>,
  assigned: Assigned,
): Promise<void> {
  if (rows.size === 0 && docs.size === 0) return;
  const S = collection.sqlSchema;
  await lockGenerations(tx, collection, 'shared');
  for (const generation of await liveGenerations(tx, S, 'for update')) {
    const { module, number } = generation;
    // Those of a generation that began a moment ago are not read yet, nor assigned.
    const arrived =
      assigned.arrived.get(module) ?? (await readVectors(tx, descriptorTable(S, module), 'vector', [...docs]));
    const own = [...(rows.get(module) ?? []), ...arrived.filter(({ doc }) => docs.has(doc))];
    if (own.length === 0) continue;
    const finder = await finderOf(store, collection, generation, tx);
    const known = assigned.cells.get(number);
    const cells = own.map(({ vector }) => known?.get(vector) ?? finder.cellOf(vector));
    await tx.query(
      `insert into ${cellTable(S, module, number)} (doc, cell, vector)
       select t.doc, t.cell, v.vector
         from unnest($1::bigint[], $2::int[]) as t (doc, cell) join ${descriptorTable(S, module)} v on v.doc = t.doc`,
      [own.map(({ doc }) => doc), cells],
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
