import { collectionOf } from '../collections/collections.ts';
import type { Collection, Store } from '../context.ts';
import { columnsOf } from '../engine/binary.ts';
import { isOutage } from '../engine/sqlstate.ts';
import { keyOf, PACK_BYTES, PACKS } from './packs.ts';
import { rewritePacks } from './rewrite-packs.ts';

/** The result of a pass over all packs. */
export interface Collected {
  /** Packs that were unreferenced for some time, and were deleted. */
  deleted: number;
  /** Deleted objects without a row in `packs`, which a crash has left. */
  orphans: number;
  /** Packs that were small or mostly unused, whose contents moved to others. */
  rewritten: number;
}

const PAGE = 200;
/** Number of passes during the time that unused objects are kept, and maximum time between two passes. */
const PASSES = 4;
const MAX_SECONDS = 6 * 3_600;

interface ListedPack {
  readonly pack: string;
  readonly collection: number;
  readonly bytes: number;
  /** Whether the last pass found no reference to it. */
  readonly unused: boolean;
  /** Whether the objects of an unused pack have been kept for long enough. */
  readonly over: boolean;
}

/**
 * Deletes objects some time after their last reference is gone, and merges packs that are mostly unused into new ones.
 * A pass is due several times within that time; one process at a time does it. If it ends early, or the bucket does not
 * answer, the next pass continues. A collection that fails, such as one with a shard on a server that is away, does not
 * stop the others.
 *
 * @returns undefined if none is due
 * @throws AkinError unavailable at once if the database or the bucket is away; the error of the first collection that
 * failed, after all others are done
 */
export async function collectGarbage(store: Store, signal?: AbortSignal): Promise<Collected | undefined> {
  const { packs, objectsKeptMilliseconds } = store;
  if (packs === undefined) return undefined;
  const kept = objectsKeptMilliseconds / 1_000;
  const due = await store.engine.query(
    `update akin.object_store set garbage_collected_at = clock_timestamp()
      where garbage_collected_at <= clock_timestamp() - $1 * interval '1 second' returning id`,
    [Math.min(kept / PASSES, MAX_SECONDS)],
    'bulk',
  );
  if (due.length === 0) return undefined;
  const collected: Collected = { deleted: 0, orphans: 0, rewritten: 0 };
  let failure: unknown;
  let last: Pick<ListedPack, 'collection' | 'pack'> = { collection: -1, pack: '00000000-0000-0000-0000-000000000000' };
  for (;;) {
    signal?.throwIfAborted();
    const page = await store.engine.query<ListedPack>(
      `select pack, collection, bytes, unused_since is not null as unused,
              coalesce(unused_since <= now() - $3 * interval '1 second', false) as over
         from akin.packs
        where (collection, pack) > ($1, $2::uuid) and created_at <= now() - $3 * interval '1 second'
        order by collection, pack limit ${PAGE}`,
      [last.collection, last.pack, kept],
      'bulk',
    );
    const end = page.at(-1);
    if (end === undefined) break;
    last = end;
    for (const id of new Set(page.map(({ collection }) => collection))) {
      const began = performance.now();
      const own = page.filter(({ collection }) => collection === id);
      const collection = await collectionOf(store, id);
      try {
        await collectOf(store, collection, own, collected);
      } catch (error) {
        if (isOutage(error)) throw error;
        // A dropped collection has no tables: it is done the next time.
        if (collection === undefined || (await collectionOf(store, id)) !== undefined) failure ??= error;
      }
      await store.throttle.pauseAfter(performance.now() - began, signal);
    }
  }
  await deleteOrphans(store, collected, signal);
  if (failure !== undefined) throw failure;
  return collected;
}

/** @param collection undefined: it was dropped, and all its rows with it */
async function collectOf(
  store: Store,
  collection: Collection | undefined,
  packs: readonly ListedPack[],
  collected: Collected,
): Promise<void> {
  const live = collection === undefined ? new Map<string, number>() : await liveBytes(store, collection, packs);
  const now = (one: ListedPack) => live.get(one.pack) ?? 0;
  const names = (some: readonly ListedPack[]) => some.map(({ pack }) => pack);
  await store.engine.query(
    `update akin.packs set unused_since = case when pack = any($1::uuid[]) then now() end
      where pack = any($1::uuid[]) or pack = any($2::uuid[])`,
    [
      names(packs.filter((one) => now(one) === 0 && !one.unused)),
      names(packs.filter((one) => now(one) > 0 && one.unused)),
    ],
    'bulk',
  );
  const over = names(packs.filter((one) => now(one) === 0 && one.over));
  // The object is deleted first: the next pass deletes a row without its object, but finding an object without its row
  // takes longer.
  for (const pack of over) await store.packs?.objects.delete(keyOf(pack));
  await store.engine.query('delete from akin.packs where pack = any($1::uuid[])', [over], 'bulk');
  collected.deleted += over.length;
  if (collection === undefined) return;
  const sparse = packs.filter((one) => now(one) > 0 && now(one) < Math.max(one.bytes, PACK_BYTES) / 2);
  collected.rewritten += await rewritePacks(
    store,
    collection,
    sparse.map((one) => ({ pack: one.pack, bytes: one.bytes, live: now(one) })),
  );
}

/** The referenced bytes of each pack. Unreferenced packs are missing. */
async function liveBytes(
  store: Store,
  { sqlSchema: S }: Collection,
  packs: readonly ListedPack[],
): Promise<Map<string, number>> {
  const named = (table: string) => `select pack, sum(size) as bytes from ${S}.${table}
     where pack = any($1::uuid[]) group by pack`;
  const rows = await store.engine.query<{ pack: string; bytes: number }>(
    `select pack, sum(bytes)::float8 as bytes from (${named('outputs')} union all ${named('thumbnails')}) used group by pack`,
    columnsOf(packs, 'pack'),
    'bulk',
  );
  return new Map(rows.map(({ pack, bytes }) => [pack, bytes]));
}

/** Deletes objects that are listed as packs and have no row: a process died before its rows were written. */
async function deleteOrphans(store: Store, collected: Collected, signal: AbortSignal | undefined): Promise<void> {
  const { packs, engine, objectsKeptMilliseconds } = store;
  if (packs === undefined) return;
  for await (const page of packs.objects.list(PACKS)) {
    signal?.throwIfAborted();
    const old = page.filter(({ modified }) => Date.now() - modified.getTime() >= objectsKeptMilliseconds);
    const names = old.map(({ key }) => key.slice(key.lastIndexOf('/') + 1)).filter((name) => UUID.test(name));
    const known = await engine.query<{ pack: string }>(
      'select pack from akin.packs where pack = any($1::uuid[])',
      [names],
      'bulk',
    );
    const keys = new Set(known.map(({ pack }) => keyOf(pack)));
    for (const { key } of old) {
      if (keys.has(key)) continue;
      await packs.objects.delete(key);
      collected.orphans++;
    }
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
