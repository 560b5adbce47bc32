import type { Store } from '../context.ts';

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
