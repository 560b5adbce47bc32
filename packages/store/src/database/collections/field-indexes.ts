import type { Collection, Database } from '../context.ts';
import type { Engine } from '../engine/engine.ts';
import { sqlStateOf, wasCancelled } from '../engine/sqlstate.ts';
import { partitionSuffixes } from './shards.ts';

/*
 * Indexes on fields are built when searches use a field, not before: most fields are never searched, and each index
 * slows every commit. See docs/adr/0009-indexes-on-demand.md for costs and benefits.
 */

/** Maximum number of indexes on fields of one collection. The fields that were used first get them. */
const MAX_INDEXES = 24;
/** An index is dropped if no search has used its field for this time. */
const UNUSED_DAYS = 30;
/**
 * On PGlite nothing else runs while an index is built. So it waits for a pause between searches of this length, but not
 * longer than LONG_SEARCH_SECONDS: a search without the index takes a quarter of the time of building it.
 */
const PAUSE_MILLISECONDS = 2_000;
const LONG_SEARCH_SECONDS = 5;

const PROGRAM_LIMIT_EXCEEDED = '54000';

/** How a search uses a column: to find values (`filter`), to order by them, or to find elements or places. */
export type UseKind = 'filter' | 'rising' | 'falling' | 'elements' | 'place';

interface ColumnUse {
  readonly column: string;
  readonly kind: UseKind;
}

/** A desired index of `documents`, or of one of its partitions. */
interface FieldIndex {
  readonly table: string;
  /** The text after `on <table>`. */
  readonly definition: string;
}

/** Indexes by their name. Those of partitions are created one by one: PostgreSQL cannot create all without a lock. */
function indexesFor(collection: Collection, uses: readonly ColumnUse[]): Map<string, FieldIndex> {
  const kinds = new Map<string, Set<UseKind>>();
  for (const { column, kind } of uses) kinds.set(column, (kinds.get(column) ?? new Set()).add(kind));
  /** By name, each as the text after `on documents`. */
  const indexes = new Map<string, string>();
  for (const [column, used] of kinds) {
    // After the value comes the id, by which equal values are ordered. With the commit numbers and the number of the
    // row, counts and pages need not read the wide rows.
    if (used.has('place')) {
      indexes.set('field_place', '(lat, lon) include (valid_from, valid_to, doc, id)');
      continue;
    }
    if (used.has('elements')) indexes.set(`field_${column}_elements`, `using gin (${column}) with (fastupdate = on)`);
    if (used.has('falling')) {
      indexes.set(`field_${column}_falling`, `(${column} desc nulls last, id) include (valid_from, valid_to, doc)`);
    }
    // A filter can use either order.
    if (used.has('rising') || (used.has('filter') && !used.has('falling'))) {
      indexes.set(`field_${column}_rising`, `(${column}, id) include (valid_from, valid_to, doc)`);
    }
  }
  return new Map(
    [...indexes]
      .slice(0, MAX_INDEXES)
      .flatMap(([name, definition]) =>
        partitionSuffixes(collection).map((suffix): [string, FieldIndex] => [
          name + suffix,
          { table: `${collection.sqlSchema}.documents${suffix}`, definition },
        ]),
      ),
  );
}

/**
 * Builds the indexes that searches need, one after the other, and drops unused ones and those that a crash left
 * incomplete. On PostgreSQL searches and commits continue at the same time; on PGlite they wait while one is built
 * (100,000 documents: about 0.4 s), once.
 *
 * @returns whether an index was built (counts need a vacuum of the table before they can skip its rows), or waits
 */
export async function maintainFieldIndexes(store: Database, collection: Collection): Promise<boolean> {
  const { engine } = store;
  if ((await engine.disk?.warning('work')) !== undefined) return false;
  const S = collection.sqlSchema;
  const uses = await engine.query<ColumnUse & { recent: boolean; waiting: number; values_too_long: boolean }>(
    `select "column", kind, last_used_on > current_date - ${UNUSED_DAYS} as recent, values_too_long,
            extract(epoch from now() - first_used_at)::float8 as waiting
       from ${S}.field_uses order by first_used_at, "column", kind`,
  );
  const tables = partitionSuffixes(collection).map((suffix) => `'${S}.documents${suffix}'::regclass`);
  const wanted = indexesFor(
    collection,
    uses.filter(({ recent, values_too_long }) => recent && !values_too_long),
  );
  const present = await engine.query<{ name: string; valid: boolean }>(
    `select c.relname as name, i.indisvalid as valid from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid in (${tables.join(', ')}) and c.relname like 'field\\_%'`,
  );
  if (await isBuilding(engine, tables)) return true;
  for (const { name, valid } of present) {
    if (!valid || !wanted.has(name)) await dropIndex(engine, collection, name);
  }
  const complete = new Set(present.filter(({ valid }) => valid).map(({ name }) => name));
  const missing = [...wanted].filter(([name]) => !complete.has(name));
  const longest = Math.max(0, ...uses.map(({ waiting }) => waiting));
  for (const [name, index] of missing) {
    if (engine.kind === 'pglite' && engine.sinceLastSearch() < PAUSE_MILLISECONDS && longest < LONG_SEARCH_SECONDS)
      break;
    await buildIndex(store, collection, name, index);
  }
  return missing.length > 0;
}

/** Whether somebody is building one now: then unfinished ones are not left-overs. */
async function isBuilding(engine: Engine, tables: readonly string[]): Promise<boolean> {
  if (engine.kind === 'pglite') return false;
  const rows = await engine.query(`select from pg_stat_progress_create_index where relid in (${tables.join(', ')})`);
  return rows.length > 0;
}

async function buildIndex(
  store: Database,
  collection: Collection,
  name: string,
  { table, definition }: FieldIndex,
): Promise<void> {
  const { engine } = store;
  const concurrently = engine.kind === 'postgres' ? 'concurrently' : '';
  try {
    await engine.query(`create index ${concurrently} ${name} on ${table} ${definition}`, [], 'bulk');
  } catch (error) {
    if (!wasCancelled(error) && !(await dropFailedIndex(store, collection, error))) throw error;
  }
}

/**
 * An index cannot contain values beyond about 2,600 bytes. An index that meets such a value is dropped permanently, so
 * that the value can be stored. Searches on the field then read rows, as before.
 *
 * @returns whether this was the error; then the failed work may be retried
 */
export async function dropFailedIndex(store: Database, collection: Collection, error: unknown): Promise<boolean> {
  if (sqlStateOf(error) !== PROGRAM_LIMIT_EXCEEDED) return false;
  const name = /"(field_[a-z0-9_]+)"/.exec(messageOf(error))?.[1];
  const [, column, kind] = /^field_(.+)_(elements|rising|falling)(_s\d+)?$/.exec(name ?? '') ?? [];
  if (name === undefined || column === undefined) return false;
  await store.engine.query(
    `update ${collection.sqlSchema}.field_uses set values_too_long = true
      where "column" = $1 and (kind = 'elements') = $2`,
    [column, kind === 'elements'],
  );
  await dropIndex(store.engine, collection, name);
  return true;
}

function messageOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message : (message ?? '');
}

async function dropIndex(engine: Engine, collection: Collection, name: string): Promise<void> {
  const concurrently = engine.kind === 'postgres' ? 'concurrently' : '';
  await engine.query(`drop index ${concurrently} if exists ${collection.sqlSchema}.${name}`, [], 'bulk');
}
