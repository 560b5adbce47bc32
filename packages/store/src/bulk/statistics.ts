import { descriptorTable } from '../collections/collection-tables.ts';
import { hasServers } from '../collections/shard-servers.ts';
import type { Collection, Store } from '../context.ts';
import type { Engine } from '../engine/engine.ts';
import { wasCancelled } from '../engine/sqlstate.ts';

/** A pause in which nobody searches. */
const PAUSE_MILLISECONDS = 5_000;

interface Table {
  readonly name: string;
  /** The table that it is a partition of, if it is one. */
  readonly whole: string | null;
  readonly live: bigint;
  readonly dead: bigint;
  /** Rows that came since the last vacuum. */
  readonly inserted: bigint;
  /** Rows that changed since the planner's statistics were made. */
  readonly changed: bigint;
}

/**
 * Vacuums tables that changed much, and refreshes the planner's statistics. PostgreSQL does so too, but later, and only
 * when a fifth of a table changed: until then each count looks into the wide rows that came, and searches read dead ones
 * (measured: half as fast again after 16 commits of 10,000 updates). PGlite has nobody who would.
 *
 * @returns whether it did something, or puts it off until a pause
 */
export async function refreshStatistics(store: Store, collection: Collection): Promise<boolean> {
  const { engine } = store;
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
    // Never waits for a lock, nor gives back the end of a file, for which searches would have to wait.
    if (isDue(engine.sinceLastSearch()))
      await runUnlessCancelled(engine, `vacuum (truncate false, skip_locked) ${name}`);
    const isStale = Number(changed) > 200 + 0.1 * Number(live);
    // Plans over all partitions go by statistics of the whole, which nobody else makes.
    if (isStale) stale.add(whole === null ? name : `${collection.sqlSchema}.${whole}`);
    busy ||= isStale || isDue(Number.POSITIVE_INFINITY);
  }
  for (const name of await staleElsewhere(store, collection)) stale.add(name);
  busy ||= stale.size > 0;
  for (const name of stale) await runUnlessCancelled(engine, `analyze ${name}`);
  return busy;
}

/**
 * Tables with partitions on other servers, where the planner knows another number of documents than the last commit
 * shows: changes there are not counted here. A vacuum there is up to those servers.
 */
async function staleElsewhere(store: Store, collection: Collection): Promise<string[]> {
  if (!hasServers(collection)) return [];
  const whole = `${collection.sqlSchema}.documents`;
  const [row] = await store.engine.query<{ documents: number; known: number | null }>(
    `select c.documents::float8 as documents,
            (select case when min(p.reltuples) >= 0 then sum(p.reltuples) end::float8 from pg_inherits i join pg_class p on p.oid = i.inhrelid
              where i.inhparent = $2::text::regclass) as known
       from akin.collections c where c.id = $1`,
    [collection.id, whole],
  );
  const { documents = 0, known } = row ?? {};
  // Of a partition that nobody has looked at it is not known.
  if (Math.abs(documents - (known ?? 0)) <= 200 + 0.1 * documents) return [];
  const modules = store.modules.filter(({ descriptor }) => descriptor !== undefined);
  return [whole, ...modules.map(({ name }) => descriptorTable(collection.sqlSchema, name))];
}

/** New fields have the right of way: see fields. */
async function runUnlessCancelled(engine: Engine, sql: string): Promise<void> {
  await engine.query(sql, [], 'bulk').catch((error: unknown) => {
    if (!wasCancelled(error)) throw error;
  });
}

/** Searches and commits go on meanwhile. */
function isDueOnPostgres({ live, dead, inserted }: Table): boolean {
  return Number(dead) + Number(inserted) > 1_000 + 0.05 * Number(live);
}

/**
 * Cleaning up 100,000 rows takes half a second and more, in which no search runs: in a pause, or when it must be. Rows
 * that only came are marked as seen by all at once, which is cheap, and lets counts do with an index alone.
 */
function isDueOnPglite({ live, dead, inserted }: Table, sinceLastSearch: number): boolean {
  const paused = sinceLastSearch > PAUSE_MILLISECONDS;
  if (Number(dead) > 50_000 + 5 * Number(live)) return true;
  return paused && (Number(dead) > 5_000 + 0.2 * Number(live) || Number(inserted) > 1_000 + 0.1 * Number(live));
}
