import type { OutputField } from '@akin/domain';
import type { Queryable } from '../engine/engine.ts';
import { renameSql } from './renamed-columns.ts';
import { bulkSettingsSql, partitionTables, renameSequence, type Tables } from './shards.ts';

/** `valid_to` of a live row: the greatest bigint. */
export const LIVE = 9_223_372_036_854_775_807n;

/** States of pending operations, as SQL. */
export const OPEN_STATES = "('queued', 'analyzing', 'ready')";

/**
 * SQL of the version of a row `d` of documents. Copies that were made before versions were stored have negative
 * numbers.
 */
export const VERSION = 'coalesce(d.version, abs(d.seq))';

/**
 * The tables of one collection, in its own schema (S below). Append only, as the shared migrations are; each entry
 * runs once a collection.
 *
 * The life of a change: rows of `operations` that belong to a request (staged) → the request gets its first sequence
 * number (accepted) → analysis fills `outputs` → a commit turns the operation into a row of `documents` and of each
 * `descriptors_<module>`. A row of `documents`, its descriptors, its outputs and its thumbnail all carry the number
 * that the operation drew when it was staged: `doc`.
 *
 * When a collection with several shards is created, the entries known at that time run first, and then its tables are
 * partitioned. So every later entry must also work on partitioned tables.
 */
const TABLES: readonly ((S: string) => readonly string[])[] = [
  // 1
  (S) => [
    // Fields that are columns of documents: one for each output of an analysis that can be filtered, and one for each
    // name that clients defined. The preconfigured ones are fixed and not listed.
    `create table ${S}.fields (
       number int primary key,
       name text collate "C" not null unique,
       type text not null,
       origin text not null check (origin in ('analysis', 'document')),
       "column" text not null unique
     )`,

    // Operations arrive in requests. All of a request is accepted by giving it first_seq; the sequence number of an
    // operation is first_seq + position and never stored.
    `create table ${S}.requests (
       request bigint generated always as identity primary key,
       first_seq bigint unique,
       count int not null default 0,
       created_at timestamptz not null default now(),
       accepted_at timestamptz,
       -- No operation of it is queued, analyzing or ready any more.
       finished boolean not null default false
     )`,
    `create index requests_unfinished on ${S}.requests (first_seq) where not finished and first_seq is not null`,

    `create sequence ${S}.doc as bigint cache 1`,
    `create table ${S}.operations (
       request bigint not null,
       position int not null,
       kind text not null check (kind in ('add', 'delete', 'delete-by-query')),
       -- Of the document; null for a delete by query.
       id text collate "C",
       -- The number of the row of documents that this one becomes; null for deletes.
       doc bigint,
       -- The document as JSON, or the query of a delete by query. Null once applied: then documents has it.
       document text,
       -- Comma list of the modules to apply; null: all.
       modules text,
       state text not null check (state in ('queued', 'analyzing', 'ready', 'applied', 'failed', 'superseded')),
       -- How often an analysis began.
       attempt int not null default 0,
       -- When a queued one may begin (null: at once); since when one is being analyzed.
       available_at timestamptz,
       error_code text,
       error_msg text,
       -- The commit that shows the effect of an applied or superseded one.
       applied_commit bigint,
       primary key (request, position)
     ) with (fillfactor = 90)`,
    `create index operations_queued on ${S}.operations (request, position) where state = 'queued'`,
    `create index operations_analyzing on ${S}.operations (request, position) where state = 'analyzing'`,
    `create index operations_ready on ${S}.operations (request, position) where state = 'ready'`,
    `create index operations_failed on ${S}.operations (request, position) where state = 'failed'`,

    // The outputs of an analysis word for word, as \`import\` takes them. Base64 does not compress.
    `create table ${S}.outputs (doc bigint primary key, json text not null)`,
    `alter table ${S}.outputs alter column json set storage external`,
    `create table ${S}.thumbnails (doc bigint primary key, bytes bytea not null, etag text not null)`,
    `alter table ${S}.thumbnails alter column bytes set storage external`,

    // A row is visible to commit n when vf <= n and n < vt; vt is the greatest bigint while nothing replaced it.
    `create table ${S}.documents (
       doc bigint primary key,
       id text collate "C" not null,
       seq bigint not null,
       vf bigint not null,
       vt bigint not null default ${LIVE},
       image text collate "C",
       labels text[] collate "C",
       lat double precision,
       lon double precision,
       -- The words of every string value, as domain makes them: the field "text".
       words tsvector
     ) with (vacuum_truncate = off)`,
    // At most one live row an id.
    `create unique index documents_id on ${S}.documents (id, vt)`,
    `create index documents_words on ${S}.documents using gin (words) with (gin_pending_list_limit = 256)`,
    `create index documents_expired on ${S}.documents (vt) where vt < ${LIVE}`,

    // Deletes (and replacements that left no row) that earlier operations, still on their way, have to respect.
    `create table ${S}.barriers (
       seq bigint not null,
       id text collate "C",
       query text,
       accepted_at timestamptz not null,
       check ((id is null) <> (query is null))
     )`,
    `create index barriers_id on ${S}.barriers (id) where id is not null`,
    `create index barriers_seq on ${S}.barriers (seq)`,

    // When each of the recent commits was published. Rows that it replaced are removed some time later.
    `create table ${S}.commits (number bigint primary key, at timestamptz not null default now())`,
  ],

  // 2
  (S) => [
    // How searches use the columns of documents: see field-indexes.
    `create table ${S}.field_uses (
       "column" text not null,
       form text not null check (form in ('filter', 'rising', 'falling', 'elements', 'place')),
       since timestamptz not null default now(),
       used_on date not null default current_date,
       -- Its values are too long for an index.
       refused boolean not null default false,
       primary key ("column", form)
     )`,
    // For each module, how many documents of the last commit have its descriptor, and by how many the next commit
    // changes this number.
    `create table ${S}.described (
       module text primary key,
       documents bigint not null,
       unpublished bigint not null default 0
     )`,
  ],

  // 3: groups of near-duplicates, see groups/update-groups
  (S) => [
    // One row: the commit up to which the groups are current, and the progress of the update to the next one.
    `create table ${S}.grouping (
       rule text not null,
       as_of bigint not null,
       target bigint not null,
       doc bigint not null
     )`,
    `insert into ${S}.grouping values ('', 0, 0, 0)`,
    // Each processed document is either a representative, alone at first, or follows one.
    `create table ${S}.representatives (
       doc bigint primary key,
       id text collate "C" not null,
       cell int not null,
       vector halfvec not null,
       followers int not null default 0,
       -- Its document was deleted: its followers need another representative.
       gone boolean not null default false
     ) with (vacuum_truncate = off)`,
    `create index representatives_cell on ${S}.representatives (cell)`,
    `create index representatives_groups on ${S}.representatives (id) where followers > 0 and not gone`,
    `create index representatives_gone on ${S}.representatives (doc) where gone`,
    `create table ${S}.followers (
       doc bigint primary key,
       representative bigint not null,
       distance double precision not null
     ) with (vacuum_truncate = off)`,
    `create index followers_representative on ${S}.followers (representative)`,
    // Finds the rows of a commit by its number.
    `create index documents_vf on ${S}.documents (vf)`,
  ],

  // 4: cells in SQL, no longer used since ADR 28
  (S) => [
    `create sequence ${S}.generation as int`,
    `create table ${S}.generations (
       module text not null,
       number int not null,
       state text not null check (state in ('building', 'current', 'retired')),
       -- Since when it is in this state; while it is being built, when it last got on.
       at timestamptz not null default now(),
       began_at timestamptz not null default clock_timestamp(),
       -- How many documents had a descriptor when it was trained.
       documents bigint not null,
       dimensions int not null,
       -- Numbers of 4 bytes, little-endian: the centroids cell by cell, the group of each cell, how many rows it got and
       -- how far from its centroid the farthest one lies.
       centroids bytea not null,
       groups bytea not null,
       sizes bytea not null,
       radii bytea not null,
       primary key (module, number)
     )`,
    `create unique index generations_live on ${S}.generations (module, state) where state <> 'retired'`,
    // One row: when new cells were last requested.
    `create table ${S}.optimizations (asked_at timestamptz not null)`,
    `insert into ${S}.optimizations values ('-infinity')`,
  ],

  // 5: the different words of all documents, see vocabulary
  (S) => [
    `create table ${S}.words (word text collate "C" primary key)`,
    `insert into ${S}.words (word)
     select word from ts_stat('select words from ${S}.documents') where left(word, 1) <> ':'`,
  ],

  // 6: the order of analyses
  (S) => [
    `alter table ${S}.operations
       -- The host of the picture's URL, if the picture must be analyzed.
       add column host text,
       -- Attempts that failed. Lost attempts do not count.
       add column failures int not null default 0`,
  ],

  // 7: whether a field of the document contains a value more than once (older rows: unknown, so true), see field-values
  (S) => [`alter table ${S}.documents add column repeats boolean not null default true`],

  // 8: which model made the descriptors of each module, see models
  (S) => [`alter table ${S}.described add column model text`],

  // 9: proof that outputs were checked, so that `parseOutputs` need not check them again (null: it must)
  (S) => [`alter table ${S}.outputs add column mark text`],

  // 10: the origin of a request, for the log lines and spans of its analyses, see staging
  (S) => [`alter table ${S}.requests add column request_id text, add column trace text`],

  // 11: the calibration of that model as JSON, see models
  (S) => [`alter table ${S}.described add column calibration text`],

  // 12: files whose documents were deleted by users, see tombstones
  (S) => [
    `create table ${S}.tombstones (
       id text collate "C" primary key,
       source text not null,
       modified timestamptz not null,
       bytes bigint not null,
       -- The path in the source (null: the id), and a hash of what the file contains.
       path text,
       hash bigint,
       -- Ascending: the oldest are removed first.
       number bigint generated by default as identity
     )`,
    `create index tombstones_number on ${S}.tombstones (number)`,
    // Whether its deletes leave tombstones.
    `alter table ${S}.requests add column tombstones boolean not null default true`,
    `alter table ${S}.barriers add column tombstones boolean not null default true`,
  ],

  // 13: how many operations failed, by reason: each row is a change of the number, see failures
  (S) => [
    `create table ${S}.failures (code text not null, change bigint not null)`,
    `insert into ${S}.failures (code, change)
     select coalesce(error_code, 'internal'), count(*) from ${S}.operations where state = 'failed' group by 1`,
    `create index operations_failed_id on ${S}.operations (id) where state = 'failed'`,
    `create index barriers_all on ${S}.barriers (seq) where query = '*:*'`,
  ],

  // 14: names of the field. A row of documents is visible to commit n when valid_from <= n and n < valid_to.
  (S) => [
    `alter table ${S}.documents rename column vf to valid_from`,
    `alter table ${S}.documents rename column vt to valid_to`,
    `alter index ${S}.documents_vf rename to documents_valid_from`,
    `alter table ${S}.described rename to descriptor_counts`,
    `alter index ${S}.described_pkey rename to descriptor_counts_pkey`,
  ],

  // 15: documents that people said are different, and documents that look for another group, see groups/decisions
  (S) => [
    `create table ${S}.decisions (
       a text collate "C" not null,
       b text collate "C" not null,
       primary key (a, b)
     )`,
    `create table ${S}.ungrouped (doc bigint primary key)`,
  ],

  // 16: atomic updates and versions of documents, see commit/atomic and accept/versions
  (S) => [
    `alter table ${S}.operations
       -- Changes single fields of the earlier document.
       add column atomic boolean not null default false,
       -- The version that the earlier document must have; checked when the operation is accepted.
       add column expected_version bigint,
       -- The version that its document keeps; null: its own sequence number.
       add column kept_version bigint`,
    `create index operations_open_id on ${S}.operations (id) where state in ${OPEN_STATES}`,
    `create index operations_open_queries on ${S}.operations (request, position)
      where kind = 'delete-by-query' and state in ${OPEN_STATES}`,
    `create index operations_open_atomic on ${S}.operations (request, position) where atomic and state in ${OPEN_STATES}`,
    `alter table ${S}.documents add column version bigint`,
    // Ids that a delete by query skipped, because an earlier atomic update of them is pending.
    `alter table ${S}.barriers add column waiting text[] collate "C"`,
    `create index barriers_waiting on ${S}.barriers (seq) where waiting is not null`,
  ],

  () => [], // 17: no longer used

  // 18: bytes of changes, see accept/quota
  (S) => [
    `alter table ${S}.operations add column if not exists bytes int`,
    // Of its values, outputs and thumbnail. Null in older rows.
    `alter table ${S}.documents add column if not exists bytes int`,
    // Bytes of all changes that were accepted before it; null where that is not known.
    `alter table ${S}.requests add column if not exists bytes_before bigint`,
  ],

  (S) => [bulkSettingsSql(S)], // 19

  // 20: names of the field; the entries above have the earlier ones
  (S) => [renameSql(S)],
];

export const TABLES_VERSION = TABLES.length;

/** Creates the missing tables of the schema: see {@link TABLES}. */
export async function createTables(tx: Queryable, collection: Tables, from: number): Promise<void> {
  for (const statements of TABLES.slice(from)) {
    for (const sql of statements(collection.sqlSchema)) await tx.query(sql);
  }
  if (from > 0) return;
  await partitionTables(tx, collection, ['documents', 'outputs', 'thumbnails']);
  await renameSequence(tx, collection);
}

/**
 * Outputs that can be filtered are columns. The long texts (descriptors and codes) are not: they are read from the
 * outputs if a search names them.
 */
export function isColumn(output: OutputField): boolean {
  return output.type !== 'string' || output.returnedByDefault;
}

export function descriptorTable(sqlSchema: string, module: string): string {
  return `${sqlSchema}.descriptors_${checkedName(module)}`;
}

/** Names of modules and outputs are used in SQL unquoted. */
export function checkedName(name: string): string {
  if (!/^[a-z][a-z0-9_]{0,47}$/.test(name)) throw new Error(`${name} cannot be the name of a module or output`);
  return name;
}
