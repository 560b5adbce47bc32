import type { Collection } from './collections.ts';
import type { Store } from './store.ts';

/** A pause in which nobody searches. */
const PAUSE_MILLISECONDS = 5_000;

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
    if (store.engine.kind === 'pglite' && isVacuumDue(Number(live), Number(dead), store.engine.sinceLastSearch())) {
      await store.engine.query(`vacuum (truncate false) ${table}`, [], 'bulk');
    }
    if (Number(changed) > 200 + 0.1 * Number(live)) await store.engine.query(`analyze ${table}`, [], 'bulk');
  }
}

/** Cleaning up 100,000 rows takes half a second and more, in which no search runs: in a pause, or when it must be. */
function isVacuumDue(live: number, dead: number, sinceLastSearch: number): boolean {
  if (dead <= 5_000 + 0.2 * live) return false;
  return sinceLastSearch > PAUSE_MILLISECONDS || dead > 50_000 + 5 * live;
}
