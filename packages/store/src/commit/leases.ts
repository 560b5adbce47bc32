import { AkinError } from '@akin/domain';
import { collectionStates } from '../collections/collections.ts';
import { isOther } from '../collections/models.ts';
import { loadSchema } from '../collections/schema.ts';
import type { Collection, Store } from '../context.ts';
import type { Queryable } from '../engine/engine.ts';
import { sqlStateOf } from '../engine/sqlstate.ts';
import { requireShard, type ShardLease } from './shard-leases.ts';

/** The right of one of several processes on a database to commit in a collection. */
export interface Lease {
  /** Grows with each change of hands. */
  readonly epoch: bigint;
}

/** A lease that a process may take. */
export interface WantedLease {
  readonly collection: Collection;
  /** Whether the process has the models of the collection. */
  readonly fits: boolean;
}

/** A holder or a commit in the way lets go after some milliseconds; the next turn asks again. */
const LOCK_MILLISECONDS = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';
/** Leases that are waited for in one turn because a commit is in the way. */
const MOST_WAITED_FOR = 4;

/** How long nobody with the models of a collection must have led it before one with others does. */
const OTHER_MODELS_MILLISECONDS = 30_000;
/** Until then a holder that is gone counts for {@link OTHER_MODELS_MILLISECONDS}. */
const FORGET_HOLDERS = "interval '1 hour'";

/** Since when, or until when, nobody else may take a lease `l`; `h` is its holder. */
const UNTIL = "greatest(l.until, coalesce(h.until, '-infinity'))";

/**
 * Renews all leases of a process: one statement, and one row that changes, however many leases there are. The clock is
 * the database's. It waits for no commit, nor a commit for it.
 *
 * @param holder names the process, unlike any other that ever was
 * @param milliseconds after which others may take the leases unless they were renewed
 * @returns the leases that it holds, by id of the collection
 */
export async function renewLeases(store: Store, holder: string, milliseconds: number): Promise<Map<number, Lease>> {
  const rows = await store.engine.query<{ collection: number; epoch: bigint }>(
    `with renewed as (
       insert into akin.lease_holders (holder, until) values ($1, now() + $2 * interval '1 millisecond')
       on conflict (holder) do update set until = excluded.until
     )
     select collection, epoch from akin.leases where holder = $1`,
    [holder, milliseconds],
  );
  return new Map(rows.map(({ collection, epoch }) => [collection, { epoch }]));
}

/**
 * The leases that a process may take, and those of its own where it has the models of the collection by now, or has them
 * no more: two statements, however many collections there are. Who has the models of a collection goes before those who
 * do not: their results would fail.
 */
export async function findLeases(store: Store, holder: string): Promise<WantedLease[]> {
  const collections = await collectionStates(store);
  const rows = await store.engine.query<{
    collection: number;
    own: boolean;
    fits: boolean;
    free: boolean;
    free_for_all: boolean;
  }>(
    `select l.collection, l.holder = $1 as own, l.fits, ${UNTIL} < now() as free,
            ${UNTIL} < now() - $2 * interval '1 millisecond' as free_for_all
       from akin.leases l left join akin.lease_holders h using (holder)`,
    [holder, OTHER_MODELS_MILLISECONDS],
  );
  const leases = new Map(rows.map((row) => [row.collection, row]));
  const wanted: WantedLease[] = [];
  for (const state of collections) {
    const row = leases.get(state.collection.id);
    const fits = await hasModelsOf(store, state.collection, state.schemaVersion);
    // Where nobody led before, the time of those with its models begins when it is asked for.
    const isFree = row === undefined || (fits ? row.free || !row.fits : row.free_for_all);
    if (row?.own ? row.fits !== fits : isFree) wanted.push({ collection: state.collection, fits });
  }
  return wanted;
}

/**
 * Whether this process has the models of a collection: the results of one that has not would fail.
 *
 * @param schemaVersion of the collection, if it is known
 */
export async function hasModelsOf(store: Store, collection: Collection, schemaVersion?: number): Promise<boolean> {
  if (store.models.size === 0) return true;
  const schema = await loadSchema(store, collection, schemaVersion);
  return ![...store.models.keys()].some((module) => isOther(store, schema, module));
}

/**
 * Takes leases that are free, or those that a process without the models of the collection holds if this one has them:
 * all in one statement, and after that those for which a transaction at work has to be waited for, a few at a time.
 * Who takes a lease over gets it when that transaction is done.
 *
 * @returns the leases that it got, by id of the collection
 */
export async function takeLeases(
  store: Store,
  wanted: readonly WantedLease[],
  holder: string,
  milliseconds: number,
): Promise<Map<number, Lease>> {
  const taken = new Map<number, Lease>();
  if (wanted.length === 0) return taken;
  const take = async (some: readonly WantedLease[], locked: 'skip' | 'wait') => {
    const rows = await store.engine.transaction((tx) => takeSome(tx, some, holder, milliseconds, locked), {
      lockTimeoutMilliseconds: LOCK_MILLISECONDS,
    });
    for (const { collection, epoch } of rows) taken.set(collection, { epoch });
  };
  await take(wanted, 'skip');
  const missed = wanted.filter(({ collection }) => !taken.has(collection.id));
  for (const one of missed.slice(0, MOST_WAITED_FOR)) {
    await take([one], 'wait').catch((error: unknown) => {
      if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    });
  }
  return taken;
}

async function takeSome(
  tx: Queryable,
  wanted: readonly WantedLease[],
  holder: string,
  milliseconds: number,
  locked: 'skip' | 'wait',
): Promise<{ collection: number; epoch: bigint }[]> {
  const ids = wanted.map(({ collection }) => collection.id);
  const fits = wanted.map((one) => one.fits);
  await tx.query(
    `insert into akin.leases (collection, epoch, holder, until)
     select c.id, 0, '', case when w.fits then now() - interval '1 second' else now() end
       from akin.collections c join unnest($1::int[], $2::boolean[]) as w (id, fits) using (id)
      where not exists (select from akin.leases l where l.collection = c.id)
      order by c.id for key share of c skip locked
     on conflict do nothing`,
    [ids, fits],
  );
  return tx.query(
    `with wanted as materialized (
       select l.collection, w.fits
         from akin.leases l join unnest($1::int[], $2::boolean[]) as w (collection, fits) using (collection)
         left join akin.lease_holders h on h.holder = l.holder
        where l.holder = $3 or (w.fits and not l.fits)
           or ${UNTIL} < now() - case when w.fits then 0 else $5 end * interval '1 millisecond'
        order by l.collection for update of l ${locked === 'skip' ? 'skip locked' : ''}
     )
     update akin.leases l
        set epoch = case when l.holder = $3 then l.epoch else l.epoch + 1 end,
            holder = $3, until = now() + $4 * interval '1 millisecond', fits = w.fits
       from wanted w where l.collection = w.collection
     returning l.collection, l.epoch`,
    [ids, fits, holder, milliseconds, OTHER_MODELS_MILLISECONDS],
  );
}

/** Gives all leases of a holder back, for others to take at once. */
export async function releaseLeases(store: Store, holder: string): Promise<void> {
  await store.engine.transaction(async (tx) => {
    await tx.query(`update akin.leases set until = now() - interval '1 millisecond' where holder = $1`, [holder]);
    await tx.query(`delete from akin.lease_holders where holder = $1 or until < now() - ${FORGET_HOLDERS}`, [holder]);
  });
}

/**
 * To stand first in every transaction of a commit: a process that takes the lease over waits until the transaction is done,
 * and what comes after that is refused.
 *
 * @throws AkinError conflict when the lease was lost
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
  throw new AkinError('conflict', `Another indexer leads the collection ${collection.name} by now.`);
}
