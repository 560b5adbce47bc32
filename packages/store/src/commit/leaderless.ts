import type { Store } from '../context.ts';

/**
 * Number of collections without a leader now, by the clock of the database: nothing becomes visible in those. 0 if no
 * other process uses the store, because then leases are not needed.
 */
export async function countLeaderless(store: Store): Promise<number> {
  if (!store.shared) return 0;
  const [row] = await store.engine.query<{ count: number }>(
    `select count(*)::int4 as count from akin.collections c
      where not exists (
        select from akin.leases l left join akin.lease_holders h using (holder)
         where l.collection = c.id and greatest(l.expires_at, h.expires_at) >= now())`,
  );
  return row?.count ?? 0;
}
