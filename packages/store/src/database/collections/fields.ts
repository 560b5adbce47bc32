import { AkinError, type FieldType, MAX_FIELDS } from '@akin/domain';
import type { Collection } from '../context.ts';
import type { Queryable } from '../engine/engine.ts';
import { partitionSuffixes } from './shards.ts';
import { sqlType } from './sql-types.ts';

/**
 * Adds fields that clients define, as columns f<n> of `documents`. Runs inside a short transaction that holds the lock
 * of the collection's row. @throws AkinError bad-request if the collection has too many fields
 */
export async function addFields(
  tx: Queryable,
  collection: Collection,
  added: ReadonlyMap<string, FieldType>,
): Promise<void> {
  if (added.size === 0) return;
  const S = collection.sqlSchema;
  const [row] = await tx.query<{ last: number; count: bigint }>(
    `select coalesce(max(number), 0) as last, count(*) filter (where origin = 'document') as count from ${S}.fields`,
  );
  const { last, count } = row ?? { last: 0, count: 0n };
  if (Number(count) + added.size > MAX_FIELDS) {
    throw new AkinError(
      'bad-request',
      `A collection has at most ${MAX_FIELDS} fields; this request would make it ${Number(count) + added.size}. Use fewer field names.`,
    );
  }
  const names = [...added.keys()];
  const types = [...added.values()];
  await tx.query(
    `insert into ${S}.fields (number, name, type, origin, "column")
     select $3 + i, name, type, 'document', 'f' || $3 + i
       from unnest($1::text[], $2::text[]) with ordinality as t (name, type, i)`,
    [names, types, last],
  );
  await cancelHousekeeping(tx, collection);
  const columns = types.map((type, i) => `add column f${last + i + 1} ${sqlType(type)}`);
  await tx.query(`alter table ${S}.documents ${columns.join(', ')}`);
  await refreshView(tx, collection);
  await tx.query('update akin.collections set schema_version = schema_version + 1 where id = $1', [collection.id]);
}

/**
 * An index build or a vacuum blocks new columns, and those block all searches while they wait. So the build or vacuum
 * is cancelled, and starts again later.
 */
async function cancelHousekeeping(tx: Queryable, collection: Collection): Promise<void> {
  const tables = partitionSuffixes(collection).map(
    (suffix) => `'${collection.sqlSchema}.documents${suffix}'::regclass`,
  );
  await tx.query(
    `select pg_cancel_backend(pid)
       from (select pid, relid from pg_stat_progress_create_index
             union all select pid, relid from pg_stat_progress_vacuum) working
      where relid in (${tables.join(', ')})`,
  );
}

/**
 * Creates or extends the view \`live_documents\`: the last commit, with columns under the names of their fields. For
 * users of psql; akin itself does not read it.
 */
export async function refreshView(tx: Queryable, collection: Collection): Promise<void> {
  const S = collection.sqlSchema;
  const rows = await tx.query<{ name: string; column: string }>(
    `select name, "column" from ${S}.fields order by number`,
  );
  const taken = new Set(['id', 'seq', 'image', 'labels', 'lat', 'lon']);
  const columns = rows.map(({ name, column }) => `d.${column} as ${viewName(name, column, taken)}`);
  // Columns are only ever added at the end, which is all that "or replace" can do.
  await tx.query(
    `create or replace view ${S}.live_documents as
     select d.id, d.seq, d.image, d.labels, d.lat, d.lon${columns.map((column) => `, ${column}`).join('')}
       from ${S}.documents d join akin.collections c on c.id = ${collection.id}
      where d.valid_from <= c.commit and c.commit < d.valid_to`,
  );
}

/** PostgreSQL truncates names at 63 bytes, which may make two equal: a longer one is shown as its column. */
function viewName(name: string, column: string, taken: Set<string>): string {
  let shown = Buffer.byteLength(name) > 63 ? column : name;
  while (taken.has(shown)) shown = `~${shown}`;
  taken.add(shown);
  return `"${shown.replaceAll('"', '""')}"`;
}
