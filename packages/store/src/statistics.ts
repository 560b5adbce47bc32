import type { Collection } from './collections.ts';
import type { Store } from './store.ts';

/**
 * Refreshes the planner's statistics of tables that changed much. PostgreSQL does so too, but up to a minute late;
 * PGlite has nobody who would, nor anybody who cleans up dead rows.
 */
export async function refreshStatistics(store: Store, collection: Collection): Promise<void> {
  const tables = await store.engine.query<{ name: string; live: bigint; dead: bigint; changed: bigint }>(
    `select relname as name, n_live_tup as live, n_dead_tup as dead, n_mod_since_analyze as changed
       from pg_stat_user_tables where schemaname = $1`,
    [collection.sqlSchema],
  );
  for (const { name, live, dead, changed } of tables) {
    const table = `${collection.sqlSchema}.${name}`;
    if (store.engine.kind === 'pglite' && Number(dead) > 5_000 + 0.2 * Number(live)) {
      await store.engine.query(`vacuum (truncate false) ${table}`, [], 'bulk');
    }
    if (Number(changed) > 200 + 0.1 * Number(live)) await store.engine.query(`analyze ${table}`, [], 'bulk');
  }
}
