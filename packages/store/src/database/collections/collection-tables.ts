import type { OutputField } from '@akin/domain';
import type { Queryable } from '../engine/engine.ts';
import { partitionTables, type Tables } from './shards.ts';

/** `valid_to` of a live row: the greatest bigint. */
export const LIVE = 9_223_372_036_854_775_807n;

/** States of pending operations, as SQL. */
export const OPEN_STATES = "('queued', 'analyzing', 'ready')";

/** SQL of the version of a row `d` of documents. */
export const VERSION = 'coalesce(d.version, d.seq)';

/**
 * The tables of one collection, in its own schema (S below). Append only, as the shared migrations are; each entry
 * runs once a collection.
 *
 * The life of a change: rows of `operations` that belong to a request (staged) → the request gets its first sequence
 * number (accepted) → its picture is analyzed, unless it came with outputs → a commit turns the operation into a row of
 * `documents`. This row, its descriptors and its thumbnail all carry the number that the operation drew when it was
 * staged: `doc`. Descriptors and thumbnails may be there before the row of `documents`, and nobody sees them then.
 *
 * When a collection with several shards is created, these entries run first, and then its tables are partitioned. So
 * every later entry must also work on partitioned tables.
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
    // How searches use the columns of documents: see field-indexes.
    `create table ${S}.field_uses (
       "column" text not null,
       kind text not null check (kind in ('filter', 'rising', 'falling', 'elements', 'place')),
       first_used_at timestamptz not null default now(),
       last_used_on date not null default current_date,
       -- Its values are too long for an index.
       values_too_long boolean not null default false,
       primary key ("column", kind)
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
       finished boolean not null default false,
       -- Its origin, for the log lines and spans of its analyses, see staging.
       request_id text,
       traceparent text,
       -- Whether its deletes leave tombstones.
       leaves_tombstones boolean not null default true,
       -- Bytes of all changes that were accepted before it, see accept/quota; null where that is not known.
       bytes_before bigint
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
       -- The outputs of its picture without descriptors, see pending-analysis. Null: there are none, or it is applied.
       analysis text,
       bytes int,
       -- Comma list of the modules to apply; null: all.
       modules text,
       -- The host of the picture's URL, if the picture must be analyzed.
       host text,
       state text not null check (state in ('queued', 'analyzing', 'ready', 'applied', 'failed', 'superseded')),
       -- How often an analysis began.
       attempt int not null default 0,
       -- Attempts that failed. Lost attempts do not count.
       failed_attempts int not null default 0,
       -- When a queued one may begin (null: at once); since when one is being analyzed.
       available_at timestamptz,
       error_code text,
       error_msg text,
       -- Changes single fields of the earlier document, see commit/atomic.
       atomic boolean not null default false,
       -- The version that the earlier document must have; checked when the operation is accepted, see accept/versions.
       expected_version bigint,
       -- The version that its document keeps; null: its own sequence number.
       kept_version bigint,
       -- The commit that shows the effect of an applied or superseded one.
       applied_commit bigint,
       primary key (request, position)
     ) with (fillfactor = 90)`,
    `create index operations_queued on ${S}.operations (request, position) where state = 'queued'`,
    `create index operations_analyzing on ${S}.operations (request, position) where state = 'analyzing'`,
    `create index operations_ready on ${S}.operations (request, position) where state = 'ready'`,
    `create index operations_failed on ${S}.operations (request, position) where state = 'failed'`,
    `create index operations_failed_id on ${S}.operations (id) where state = 'failed'`,
    `create index operations_open_id on ${S}.operations (id) where state in ${OPEN_STATES}`,
    `create index operations_open_queries on ${S}.operations (request, position)
      where kind = 'delete-by-query' and state in ${OPEN_STATES}`,
    `create index operations_open_atomic on ${S}.operations (request, position) where atomic and state in ${OPEN_STATES}`,
    // How many operations failed, by reason: each row is a change of the number, see failures.
    `create table ${S}.failure_counts (code text not null, delta bigint not null)`,

    `create table ${S}.thumbnails (doc bigint primary key, bytes bytea not null, etag text not null)`,
    `alter table ${S}.thumbnails alter column bytes set storage external`,

    // A row is visible to commit n when valid_from <= n and n < valid_to; valid_to is the greatest bigint while nothing
    // replaced it.
    `create table ${S}.documents (
       doc bigint primary key,
       id text collate "C" not null,
       seq bigint not null,
       -- See VERSION; null: its sequence number.
       version bigint,
       valid_from bigint not null,
       valid_to bigint not null default ${LIVE},
       -- Of its values, descriptors and thumbnail.
       bytes int not null default 0,
       image text collate "C",
       labels text[] collate "C",
       lat double precision,
       lon double precision,
       -- Whether a field contains a value more than once, see field-values.
       has_repeated_values boolean not null default true,
       -- The words of every string value, as domain makes them: the field "text".
       words tsvector
     ) with (vacuum_truncate = off)`,
    // At most one live row an id.
    `create unique index documents_id on ${S}.documents (id, valid_to)`,
    // The setting of the session limits its pending list.
    `create index documents_words on ${S}.documents using gin (words)`,
    `create index documents_expired on ${S}.documents (valid_to) where valid_to < ${LIVE}`,
    // Finds the rows of a commit by its number.
    `create index documents_valid_from on ${S}.documents (valid_from)`,
    // The different words of all documents, see vocabulary.
    `create table ${S}.words (word text collate "C" primary key)`,
    // For each module, how many documents of the last commit have its descriptor, and by how many the next commit
    // changes this number; the model that made the descriptors, and its calibration as JSON, see models.
    `create table ${S}.descriptor_counts (
       module text primary key,
       documents bigint not null,
       unpublished bigint not null default 0,
       model text,
       calibration text
     )`,

    // Deletes (and replacements that left no row) that earlier operations, still on their way, have to respect.
    `create table ${S}.barriers (
       seq bigint not null,
       id text collate "C",
       query text,
       accepted_at timestamptz not null,
       leaves_tombstones boolean not null default true,
       -- Ids that a delete by query skipped, because an earlier atomic update of them is pending.
       skipped_ids text[] collate "C",
       check ((id is null) <> (query is null))
     )`,
    `create index barriers_id on ${S}.barriers (id) where id is not null`,
    `create index barriers_seq on ${S}.barriers (seq)`,
    `create index barriers_all on ${S}.barriers (seq) where query = '*:*'`,
    `create index barriers_skipped_ids on ${S}.barriers (seq) where skipped_ids is not null`,

    // When each of the recent commits was published. Rows that it replaced are removed some time later.
    `create table ${S}.commits (number bigint primary key, committed_at timestamptz not null default now())`,

    // Groups of near-duplicates, see groups/update-groups. One row: the commit up to which they are current, and the
    // progress of the update to the next one.
    `create table ${S}.grouping_state (
       rule text not null,
       as_of_commit bigint not null,
       target_commit bigint not null,
       last_doc bigint not null
     )`,
    `insert into ${S}.grouping_state values ('', 0, 0, 0)`,
    // Each processed document is either a representative, alone at first, or follows one.
    `create table ${S}.representatives (
       doc bigint primary key,
       id text collate "C" not null,
       cell int not null,
       vector halfvec not null,
       follower_count int not null default 0,
       -- Its document was deleted: its followers need another representative.
       removed boolean not null default false
     ) with (vacuum_truncate = off)`,
    `create index representatives_cell on ${S}.representatives (cell)`,
    `create index representatives_groups on ${S}.representatives (id) where follower_count > 0 and not removed`,
    `create index representatives_removed on ${S}.representatives (doc) where removed`,
    `create table ${S}.followers (
       doc bigint primary key,
       representative bigint not null,
       distance double precision not null
     ) with (vacuum_truncate = off)`,
    `create index followers_representative on ${S}.followers (representative)`,
    // Documents that people said are different, and documents that look for another group, see groups/decisions.
    `create table ${S}.decisions (
       id text collate "C" not null,
       other_id text collate "C" not null,
       primary key (id, other_id)
     )`,
    `create table ${S}.ungrouped (doc bigint primary key)`,

    // Pairs of pictures that have a part in common, see groups/update-part-pairs, and the progress of their update, as
    // in grouping_state.
    `create table ${S}.part_pairs (
       -- The document of which more is in common, and the other one.
       part bigint not null,
       whole bigint not null,
       strength double precision not null,
       -- What is in common: x, y, width and height in fractions of each picture.
       part_box double precision[] not null,
       whole_box double precision[] not null,
       -- Degrees by which the part is turned in the whole, after it was mirrored, and how large it is there.
       turn double precision not null,
       scale double precision not null,
       mirrored boolean not null,
       primary key (whole, part)
     ) with (vacuum_truncate = off)`,
    `create index part_pairs_part on ${S}.part_pairs (part)`,
    `create table ${S}.part_state (
       as_of_commit bigint not null,
       target_commit bigint not null,
       last_doc bigint not null
     )`,
    `insert into ${S}.part_state values (0, 0, 0)`,

    // Files whose documents were deleted by users, see tombstones.
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
  ],
];

export const TABLES_VERSION = TABLES.length;

export async function createTables(tx: Queryable, collection: Tables, from: number): Promise<void> {
  for (const statements of TABLES.slice(from)) {
    for (const sql of statements(collection.sqlSchema)) await tx.query(sql);
  }
  if (from > 0) return;
  await partitionTables(tx, collection, ['documents', 'thumbnails']);
}

/**
 * Outputs that can be filtered are columns. The long texts (descriptors and codes) are not: they are written from the
 * tables of descriptors if a search names them.
 */
export function isColumn(output: OutputField): boolean {
  return output.type !== 'string' || output.returnedByDefault || output.isBytes === true;
}

export function descriptorTable(sqlSchema: string, module: string): string {
  return `${sqlSchema}.descriptors_${checkedName(module)}`;
}

/** Names of modules and outputs are used in SQL unquoted. */
export function checkedName(name: string): string {
  if (!/^[a-z][a-z0-9_]{0,47}$/.test(name)) throw new Error(`${name} cannot be the name of a module or output`);
  return name;
}
