import { AkinError } from '@akin/domain';
import type { Collection } from './collections.ts';
import type { Queryable } from './engine/engine.ts';
import { otherModels } from './models.ts';
import type { Store } from './store.ts';

/** The right to commit in a collection, among several processes on one database. */
export interface Lease {
  /** Grows with each change of hands. */
  readonly epoch: bigint;
}

/** A holder or a commit in the way lets go after some milliseconds; the next turn asks again. */
const LOCK_MILLISECONDS = 1_000;

/** How long nobody with the models of a collection must have led it before one with others does. */
const OTHER_MODELS_MILLISECONDS = 30_000;

/**
 * Takes the lease of a collection, or renews it. The clock is the database's. Whoever has the models of the collection
 * goes before those who do not: its results would fail with them.
 *
 * @param holder names the process, unlike any other that ever was
 * @param milliseconds after which others may take it unless it was renewed
 * @returns undefined while another one holds it
 */
export async function holdLease(
  store: Store,
  collection: Collection,
  holder: string,
  milliseconds: number,
): Promise<Lease | undefined> {
  const fits = (await otherModels(store, collection)).length === 0;
  return store.engine.transaction(
    async (tx) => {
      // Looks first: whoever only asks is not to wait for a commit, nor a commit for it.
      const [taken] = await tx.query(
        `select 1 from akin.leases where collection = $1 and holder <> $2
            and until >= now() - $3 * interval '1 millisecond' and (fits or not $4)`,
        [collection.id, holder, fits ? 0 : OTHER_MODELS_MILLISECONDS, fits],
      );
      if (taken !== undefined) return undefined;
      if (!fits) {
        // Where nobody led before, the time begins now.
        const [first] = await tx.query(
          `insert into akin.leases (collection, epoch, holder, until)
           select id, 0, '', now() from akin.collections where id = $1 on conflict do nothing returning 1`,
          [collection.id],
        );
        if (first !== undefined) return undefined;
      }
      const [row] = await tx.query<{ epoch: bigint }>(
        `insert into akin.leases as l (collection, epoch, holder, until, fits)
         select id, 1, $2, now() + $3 * interval '1 millisecond', $4 from akin.collections where id = $1
         on conflict (collection) do update
            set epoch = case when l.holder = excluded.holder then l.epoch else l.epoch + 1 end,
                holder = excluded.holder, until = excluded.until, fits = excluded.fits
          where l.holder = excluded.holder or l.until < now() or ($4 and not l.fits)
         returning epoch`,
        [collection.id, holder, milliseconds, fits],
      );
      return row;
    },
    { lockTimeoutMilliseconds: LOCK_MILLISECONDS },
  );
}

/** Gives all leases of a holder back, for others to take at once. */
export async function releaseLeases(store: Store, holder: string): Promise<void> {
  await store.engine.query(`update akin.leases set until = now() - interval '1 millisecond' where holder = $1`, [
    holder,
  ]);
}

/**
 * To stand first in every transaction of a commit: whoever takes the lease over waits until the transaction is done,
 * and what comes after that is refused.
 *
 * @throws AkinError conflict when the lease was lost
 */
export async function requireLease(tx: Queryable, collection: Collection, lease: Lease | undefined): Promise<void> {
  if (lease === undefined) return;
  const rows = await tx.query('select 1 from akin.leases where collection = $1 and epoch = $2 for share', [
    collection.id,
    lease.epoch,
  ]);
  if (rows.length > 0) return;
  throw new AkinError('conflict', `Another indexer leads the collection ${collection.name} by now.`);
}
