import { AkinError } from '@akin/domain';
import { collectionStates } from '../../database/collections/collections.ts';
import { isOther } from '../../database/collections/models.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import type { Collection } from '../../database/context.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { sqlStateOf } from '../../database/engine/sqlstate.ts';
import type { Store } from '../context.ts';
import { requireShard, type ShardLease } from './shard-leases.ts';

/** The right of one of several processes on a database to commit in a collection. */
export interface Lease {
  /** Grows with each change of the holder. */
  readonly epoch: bigint;
}

export interface AvailableLease {
  readonly collection: Collection;
  readonly hasModels: boolean;
}

/** Longest wait for a transaction that locks a lease. Most take some milliseconds; the next run tries again. */
const LOCK_MILLISECONDS = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';
/** Maximum number of leases to wait for in one run, because a commit blocks them. */
const MAX_WAITED_FOR = 4;

/** A process without the models of a collection may lead it only after no other process has led it for this time. */
const OTHER_MODELS_MILLISECONDS = 30_000;
/** When holders that are gone are removed: {@link OTHER_MODELS_MILLISECONDS} counts from their end. */
const FORGET_HOLDERS = "interval '1 hour'";

/** SQL: the end of a lease `l` with the holder `h`: in the future, or since when others may take it. */
const EXPIRES_AT = "greatest(l.expires_at, coalesce(h.expires_at, '-infinity'))";

/**
 * Renews all leases of a process, by the clock of the database: one statement changes one row, however many leases
 * there are. It does not wait for commits, and commits do not wait for it.
 *
 * @param holder unique name of the process, never used by another one
 * @param milliseconds others may take the leases if they are not renewed within this time
 * @returns the leases of the process, by id of the collection
 */
export async function renewLeases(store: Store, holder: string, milliseconds: number): Promise<Map<number, Lease>> {
  const rows = await store.engine.query<{ collection: number; epoch: bigint }>(
    `with renewed as (
       insert into akin.lease_holders (holder, expires_at) values ($1, now() + $2 * interval '1 millisecond')
       on conflict (holder) do update set expires_at = excluded.expires_at
     )
     select collection, epoch from akin.leases where holder = $1`,
    [holder, milliseconds],
  );
  return new Map(rows.map(({ collection, epoch }) => [collection, { epoch }]));
}

/**
 * Finds the leases that a process may take, and its own leases for whose collections it has gained or lost the models.
 * It needs two statements, however many collections there are. Processes with the models of a collection have priority,
 * because the results of others would fail.
 */
export async function findLeases(store: Store, holder: string): Promise<AvailableLease[]> {
  const collections = await collectionStates(store);
  const rows = await store.engine.query<{
    collection: number;
    own: boolean;
    has_models: boolean;
    free: boolean;
    free_for_all: boolean;
  }>(
    `select l.collection, l.holder = $1 as own, l.has_models, ${EXPIRES_AT} < now() as free,
            ${EXPIRES_AT} < now() - $2 * interval '1 millisecond' as free_for_all
       from akin.leases l left join akin.lease_holders h using (holder)`,
    [holder, OTHER_MODELS_MILLISECONDS],
  );
  const leases = new Map(rows.map((row) => [row.collection, row]));
  const wanted: AvailableLease[] = [];
  for (const state of collections) {
    const row = leases.get(state.collection.id);
    const hasModels = await hasModelsOf(store, state.collection, state.schemaVersion);
    // If nobody ever requested the lease, everybody may. The first request starts the priority of those with the
    // models.
    const isFree = row === undefined || (hasModels ? row.free || !row.has_models : row.free_for_all);
    if (row?.own ? row.has_models !== hasModels : isFree) wanted.push({ collection: state.collection, hasModels });
  }
  return wanted;
}

/**
 * Whether this process has the models of a collection. Otherwise its results would fail.
 *
 * @param schemaVersion if it is known
 */
export async function hasModelsOf(store: Store, collection: Collection, schemaVersion?: number): Promise<boolean> {
  if (store.models.size === 0) return true;
  const schema = await loadSchema(store, collection, schemaVersion);
  return ![...store.models.keys()].some((module) => isOther(store, schema, module));
}

/**
 * Takes leases that are free, or whose holder lacks the models of the collection if this process has them. One
 * transaction takes all leases that no running transaction has locked. Then it waits for a few locked leases, one after
 * the other: the new holder gets such a lease when the other transaction has ended.
 *
 * @returns the new leases, by id of the collection
 */
export async function takeLeases(
  store: Store,
  wanted: readonly AvailableLease[],
  holder: string,
  milliseconds: number,
): Promise<Map<number, Lease>> {
  const taken = new Map<number, Lease>();
  if (wanted.length === 0) return taken;
  const take = async (some: readonly AvailableLease[], locked: 'skip' | 'wait') => {
    const rows = await store.engine.transaction((tx) => claimLeases(tx, some, holder, milliseconds, locked), {
      lockTimeoutMilliseconds: LOCK_MILLISECONDS,
    });
    for (const { collection, epoch } of rows) taken.set(collection, { epoch });
  };
  await take(wanted, 'skip');
  const missed = wanted.filter(({ collection }) => !taken.has(collection.id));
  for (const one of missed.slice(0, MAX_WAITED_FOR)) {
    await take([one], 'wait').catch((error: unknown) => {
      if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    });
  }
  return taken;
}

async function claimLeases(
  tx: Queryable,
  wanted: readonly AvailableLease[],
  holder: string,
  milliseconds: number,
  locked: 'skip' | 'wait',
): Promise<{ collection: number; epoch: bigint }[]> {
  const ids = wanted.map(({ collection }) => collection.id);
  const hasModels = wanted.map((one) => one.hasModels);
  await tx.query(
    `insert into akin.leases (collection, epoch, holder, expires_at)
     select c.id, 0, '', case when w.has_models then now() - interval '1 second' else now() end
       from akin.collections c join unnest($1::int[], $2::boolean[]) as w (id, has_models) using (id)
      where not exists (select from akin.leases l where l.collection = c.id)
      order by c.id for key share of c skip locked
     on conflict do nothing`,
    [ids, hasModels],
  );
  return tx.query(
    `with wanted as materialized (
       select l.collection, w.has_models
         from akin.leases l join unnest($1::int[], $2::boolean[]) as w (collection, has_models) using (collection)
         left join akin.lease_holders h on h.holder = l.holder
        where l.holder = $3 or (w.has_models and not l.has_models)
           or ${EXPIRES_AT} < now() - case when w.has_models then 0 else $5 end * interval '1 millisecond'
        order by l.collection for update of l ${locked === 'skip' ? 'skip locked' : ''}
     )
     update akin.leases l
        set epoch = case when l.holder = $3 then l.epoch else l.epoch + 1 end,
            holder = $3, expires_at = now() + $4 * interval '1 millisecond', has_models = w.has_models
       from wanted w where l.collection = w.collection
     returning l.collection, l.epoch`,
    [ids, hasModels, holder, milliseconds, OTHER_MODELS_MILLISECONDS],
  );
}

/** Releases all leases of a holder, for others to take at once. */
export async function releaseLeases(store: Store, holder: string): Promise<void> {
  await store.engine.transaction(async (tx) => {
    await tx.query(`update akin.leases set expires_at = now() - interval '1 millisecond' where holder = $1`, [holder]);
    await tx.query(`delete from akin.lease_holders where holder = $1 or expires_at < now() - ${FORGET_HOLDERS}`, [
      holder,
    ]);
  });
}

/**
 * Counts the collections that have no leader now, by the clock of the database. Changes in these collections do not
 * become visible. Returns 0 if no other process uses the store, because leases are not needed then.
 */
export async function countCollectionsWithoutLeader(store: Store): Promise<number> {
  if (!store.shared) return 0;
  const [row] = await store.engine.query<{ count: number }>(
    `select count(*)::int4 as count from akin.collections c
      where not exists (
        select from akin.leases l left join akin.lease_holders h using (holder)
         where l.collection = c.id and greatest(l.expires_at, h.expires_at) >= now())`,
  );
  return row?.count ?? 0;
}

/**
 * This must come first in every transaction of a commit: a process that takes over the lease waits until the
 * transaction has ended, and later ones are refused.
 *
 * @throws AkinError conflict if the lease was lost
 */
export async function requireLease(
  tx: Queryable,
  collection: Collection,
  lease: Lease | ShardLease | undefined,
): Promise<void> {
  if (lease === undefined) return;
  if ('claim' in lease) return requireShard(tx, collection, lease);
  const rows = await tx.query('select 1 from akin.leases where collection = $1 and epoch = $2 for share', [
    collection.id,
    lease.epoch,
  ]);
  if (rows.length > 0) return;
  throw new AkinError('conflict', `Another indexer leads the collection ${collection.name} now.`);
}
