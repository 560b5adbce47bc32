import type { Queryable } from '../engine/engine.ts';
import { renameChunkColumnsSql, renameRemoteColumns } from './renamed-columns.ts';
import {
  foreignServer,
  hasServers,
  listServers,
  queryOnServer,
  remoteShards,
  runOnServer,
  serversOf,
} from './shard-servers.ts';
import type { Tables } from './shards.ts';

/*
 * The tables of a collection on servers other than the main one: a schema with the same name, which contains the
 * partitions of the shards there.
 */

/** The foreign table in which each transaction of a commit marks a shard: see commit/chunks. */
export function chunkTable({ sqlSchema }: Tables, shard: number): string {
  return `${sqlSchema}.chunk_s${shard}`;
}

/**
 * Creates the schemas of a new collection on its servers, and the tables for the marks of its commits: see
 * commit/chunks.
 *
 * @throws AkinError if another akin uses the same database of a server
 */
export async function createServerSchemas(tx: Queryable, collection: Tables): Promise<void> {
  if (!hasServers(collection)) return;
  const { sqlSchema: S } = collection;
  for (const server of new Set(serversOf(collection))) {
    if (server === undefined) continue;
    await runOnServer(tx, server, `create extension if not exists vector; create schema ${S}`);
  }
  await tx.query(`alter table ${S}.documents add column inserted_chunk bigint, add column ended_chunk bigint`);
  // The number of the last transaction of a commit that wrote into a shard on another server.
  await tx.query(`create table ${S}.chunks (shard int primary key, chunk bigint not null default 0)`);
  for (const { shard, server } of remoteShards(collection)) {
    const table = chunkTable(collection, shard);
    await runOnServer(tx, server, `create table ${table} (chunk bigint not null); insert into ${table} values (0)`);
    await tx.query(
      `create foreign table ${table} (chunk bigint not null) server ${foreignServer(server)}
         options (schema_name '${S}', table_name 'chunk_s${shard}')`,
    );
    await tx.query(`insert into ${S}.chunks (shard) values (${shard})`);
  }
}

/** Samples few rows of a table of descriptors for the planner's statistics: it needs only their number. */
export async function reduceStatistics(tx: Queryable, collection: Tables, table: string): Promise<void> {
  if (!hasServers(collection)) return;
  const few = ['doc', 'cell'].map((column) => `alter column ${column} set statistics 1`);
  await tx.query(`alter table ${table} ${few.join(', ')}, alter column vector set statistics 0`);
}

/** SQL of the number of documents of the last commit with a descriptor, where `$2` is the schema. */
export function countOf(sqlSchema: string, table: string): string {
  return `(select count(*) from ${sqlSchema}.documents d join ${table} v on v.doc = d.doc
             join akin.collections c on c.sql_schema = $2
            where d.valid_from <= c.commit and c.commit < d.valid_to)`;
}

/**
 * As {@link countOf}, for a collection with shards on other servers: none of its tables is from before descriptors were
 * counted, and reading rows on other servers would block new columns.
 */
export const ZERO_COUNT_SQL = '0 where $2::text is not null';

/** Adds columns to `documents` that do not exist yet. */
export async function addColumns(
  tx: Queryable,
  collection: Tables,
  columns: readonly { readonly name: string; readonly type: string }[],
): Promise<void> {
  await addColumnsOnServers(tx, collection, columns);
  const added = columns.map(({ name, type }) => `add column ${name} ${type}`);
  await tx.query(`alter table ${collection.sqlSchema}.documents ${added.join(', ')}`);
}

/** Adds a column to documents, unless it exists. */
export async function addMissing(
  tx: Queryable,
  collection: Tables,
  column: { name: string; type: string },
): Promise<void> {
  const there = await tx.query(
    'select from pg_attribute where attrelid = $1::text::regclass and attname = $2 and not attisdropped',
    [`${collection.sqlSchema}.documents`, column.name],
  );
  if (there.length === 0) await addColumns(tx, collection, [column]);
}

/** Adds columns to the partitions on other servers. Left-overs of an earlier attempt are replaced. */
async function addColumnsOnServers(
  tx: Queryable,
  collection: Tables,
  columns: readonly { readonly name: string; readonly type: string }[],
): Promise<void> {
  await changePartitionsOnServers(tx, collection, (partition) => {
    const table = `${collection.sqlSchema}.${partition}`;
    return columns.map(
      ({ name, type }) => `
        select format_type(atttypid, atttypmod) into there from pg_attribute
         where attrelid = '${table}'::regclass and attname = '${name}' and not attisdropped;
        if there is distinct from format_type('${type.replace(/ collate .*/, '')}'::regtype, -1) then
          alter table ${table} drop column if exists ${name}, add column ${name} ${type};
        end if;`,
    );
  });
}

/**
 * Renames columns of collections with shards on other servers: all there, and on the main server those that other
 * collections do not have. Columns that an earlier attempt renamed are left out.
 */
export async function renameServerColumns(tx: Queryable, collection: Tables): Promise<void> {
  if (!hasServers(collection)) return;
  const { sqlSchema: S } = collection;
  await changePartitionsOnServers(tx, collection, (partition) => renameRemoteColumns(S, partition));
  await tx.query(renameChunkColumnsSql(S));
}

/** Runs statements of PL/pgSQL, which may use a text `there`, for each partition of documents on another server. */
async function changePartitionsOnServers(
  tx: Queryable,
  collection: Tables,
  changesOf: (partition: string) => readonly string[],
): Promise<void> {
  for (const { shard, server } of remoteShards(collection)) {
    const partition = `documents_s${shard}`;
    // An index build yields, as on the main server.
    await runOnServer(
      tx,
      server,
      `do $do$ declare there text; begin
         perform pg_cancel_backend(pid) from pg_stat_progress_create_index
           where relid = '${collection.sqlSchema}.${partition}'::regclass;
         ${changesOf(partition).join('')}
       end $do$`,
    );
  }
}

/**
 * Empties a table with all of its partitions, and changes those on other servers. Not through foreign tables, because
 * their locks would block the change.
 *
 * @param change as in `alter table`
 */
export async function truncateTable(tx: Queryable, collection: Tables, table: string, change: string): Promise<void> {
  const whole = `${collection.sqlSchema}.${table}`;
  const servers = serversOf(collection);
  if (servers.length === 0) return void (await tx.query(`truncate ${whole}`));
  for (const [shard, server] of servers.entries()) {
    const part = `${whole}_s${shard}`;
    if (server === undefined) await tx.query(`truncate ${part}`);
    else await runOnServer(tx, server, `truncate ${part}; alter table ${part} ${change}`);
  }
}

/**
 * Removes a collection from its servers. A server that was removed itself (`drop server akin_… cascade`) is skipped.
 */
export async function dropServerSchemas(tx: Queryable, collection: Tables): Promise<void> {
  if (!hasServers(collection)) return;
  for (const server of await listServers(tx)) {
    if (!serversOf(collection).includes(server)) continue;
    await runOnServer(tx, server, `drop schema if exists ${collection.sqlSchema} cascade`);
  }
}

/**
 * SQL of a table to be joined by known numbers of rows. Rows on other servers are requested by all numbers at once,
 * not one by one.
 *
 * @param docs an array of the numbers, as SQL
 */
export function rowsByNumber(collection: Tables, table: string, docs: string): string {
  return hasServers(collection) ? `(select * from ${table} where doc = any(${docs}) offset 0)` : table;
}

/** Indexes of a partition on another server by their names, if those begin with `field_`. */
export async function fieldIndexesOnServer(
  tx: Queryable,
  server: string,
  table: string,
): Promise<{ name: string; valid: boolean; building: boolean }[]> {
  return queryOnServer(
    tx,
    server,
    `select c.relname::text, i.indisvalid,
            exists (select from pg_stat_progress_create_index where relid = i.indrelid)
       from pg_index i join pg_class c on c.oid = i.indexrelid
      where i.indrelid = '${table}'::regclass and c.relname like 'field\\_%'`,
    'name text, valid boolean, building boolean',
  );
}
