import type { Store } from '../changes/context.ts';
import type { Collection } from '../database/context.ts';
import type { Engine } from '../database/engine/engine.ts';
import { wasCancelled } from '../database/engine/sqlstate.ts';

/** A pause without searches. */
const PAUSE_MILLISECONDS = 5_000;

interface Table {
  readonly name: string;
  /** Its partitioned table, if it is a partition. */
  readonly whole: string | null;
  readonly live: bigint;
  readonly dead: bigint;
  /** Rows that were inserted since the last vacuum. */
  readonly inserted: bigint;
  /** Rows that changed since the last update of the planner's statistics. */
  readonly changed: bigint;
}

/**
 * Vacuums tables that changed much, and updates the planner's statistics. PostgreSQL does so too, but later, and only
 * when a fifth of a table changed: until then each count reads the wide new rows, and searches read dead ones
 * (measured: 1.5 times as long after 16 commits of 10,000 updates). PGlite has no such background process.
 *
 * On PostgreSQL it waits for a commit of this process: what that writes is not visible yet, and makes statistics old at
 * once. (PostgreSQL's own background process looks after collections whose commits never pause.)
 *
 * @returns whether it did something, or postpones it until a pause
 */
export async function refreshStatistics(store: Store, collection: Collection): Promise<boolean> {
  const { engine, commits } = store;
  if (engine.kind === 'postgres' && commits.has(collection.id)) return true;
  const tables = await engine.query<Table>(
    `select s.relname as name, whole.relname as whole, n_live_tup as live, n_dead_tup as dead,
            n_ins_since_vacuum as inserted, n_mod_since_analyze as changed
       from pg_stat_user_tables s
       left join pg_inherits i on i.inhrelid = s.relid left join pg_class whole on whole.oid = i.inhparent
      where schemaname = $1`,
    [collection.sqlSchema],
  );
  let busy = false;
  const stale = new Set<string>();
  for (const table of tables) {
    const { live, changed, whole } = table;
    const name = `${collection.sqlSchema}.${table.name}`;
    const isDue = (sinceLastSearch: number) =>
      engine.kind === 'pglite' ? isDueOnPglite(table, sinceLastSearch) : isDueOnPostgres(table);
    // Never waits for a lock, and does not truncate the file, for which searches would have to wait.
    if (isDue(engine.sinceLastSearch()))
      await runUnlessCancelled(engine, `vacuum (truncate false, skip_locked) ${name}`);
    const isStale = Number(changed) > 200 + 0.1 * Number(live);
    // Plans over all partitions use statistics of the whole table, which nothing else updates.
    if (isStale) stale.add(whole === null ? name : `${collection.sqlSchema}.${whole}`);
    busy ||= isStale || isDue(Number.POSITIVE_INFINITY);
  }
  for (const name of stale) await runUnlessCancelled(engine, `analyze ${name}`);
  return busy;
}

/** A statement that is cancelled for a new field (see fields) is run another time. */
async function runUnlessCancelled(engine: Engine, sql: string): Promise<void> {
  await engine.query(sql, [], 'bulk').catch((error: unknown) => {
    if (!wasCancelled(error)) throw error;
  });
}

/** Searches and commits continue at the same time. */
function isDueOnPostgres({ live, dead, inserted }: Table): boolean {
  return Number(dead) + Number(inserted) > 1_000 + 0.05 * Number(live);
}

/**
 * No search runs in the meantime. Cleaning up 100,000 rows takes half a second or more: that is done in a pause, or when
 * it is necessary. Rows that were only inserted are marked as visible to all, which is cheap and allows counts with only
 * an index.
 */
function isDueOnPglite({ live, dead, inserted }: Table, sinceLastSearch: number): boolean {
  const paused = sinceLastSearch > PAUSE_MILLISECONDS;
  if (Number(dead) > 50_000 + 5 * Number(live)) return true;
  return paused && (Number(dead) > 5_000 + 0.2 * Number(live) || Number(inserted) > 1_000 + 0.1 * Number(live));
}
