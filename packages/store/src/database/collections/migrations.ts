import type { Engine, Queryable } from '../engine/engine.ts';

/**
 * The tables that all collections share. Append only: a released entry never changes, the next change is a new one at
 * the end. Each runs once, in a transaction.
 */
const MIGRATIONS: readonly string[] = [
  // 1
  `-- The registry of collections.
   create table akin.collections (
     id int generated always as identity primary key,
     name text collate "C" not null unique,
     -- The schema that holds its tables: c<id>_<name in plain letters>.
     sql_schema text not null,
     -- A JSON object.
     settings text not null default '{}',
     created_at timestamptz not null default now(),
     -- Which changes of the tables of a collection, and which analysis modules, its schema has: see collection-tables.
     tables_version int not null default 0,
     modules text not null default '',
     -- Grows when a field is added: a cache of the fields compares it.
     schema_version int not null default 1,
     -- The sequence number that the next accepted operation gets.
     next_seq bigint not null default 1,
     -- All operations with lower numbers are finished. If it equals next_seq, the collection has no pending operation.
     settled_seq bigint,
     -- The number of the last commit: a search sees the rows with valid_from <= commit and commit < valid_to.
     commit bigint not null default 0,
     committed_at timestamptz,
     -- Documents and their bytes that the last commit shows, and what the next one adds to that (or, below 0, takes
     -- away).
     documents bigint not null default 0,
     unpublished_documents bigint not null default 0,
     bytes bigint not null default 0,
     unpublished_bytes bigint not null default 0,
     -- Operations that were applied and wait for the next commit to be published.
     unpublished_operations bigint not null default 0,
     -- Bytes of all changes that were ever accepted.
     accepted_bytes bigint not null default 0,
     -- The quota: the maximum number of documents and bytes; null: any number.
     max_documents bigint,
     max_bytes bigint,
     -- Since this time another collection has its name. Only requests that began earlier still use this one.
     replaced_at timestamptz,
     -- The collection that it replaced. It contains the results of all operations of that collection.
     predecessor int,
     -- No change is accepted before this time, because another collection takes its place.
     held_until timestamptz
   );

   -- The right to commit in a collection. A process that takes over an expired lease increases the epoch: writes of the
   -- earlier holder have an older epoch, and are refused.
   create table akin.leases (
     collection int primary key references akin.collections (id) on delete cascade,
     epoch bigint not null,
     holder text not null,
     expires_at timestamptz not null,
     -- Whether the holder has the models of the collection.
     has_models boolean not null default true
   );
   -- A process renews all its leases in one row. A lease is free when both its own expiry and that of its holder have
   -- passed.
   create table akin.lease_holders (
     holder text primary key,
     expires_at timestamptz not null
   );
   -- The unfinished shards of a commit, which several processes apply side by side. Empty if no commit has offered its
   -- shards.
   create table akin.shard_leases (
     collection int not null references akin.collections (id) on delete cascade,
     shard int not null,
     -- The operations with lower numbers must be applied.
     end_seq bigint not null,
     -- A fencing token. Each process that takes the shard draws a new one; writes with an older one are refused.
     claim uuid,
     expires_at timestamptz not null default '-infinity',
     primary key (collection, shard)
   );
   -- The number of requested commits, and how many of them the holder has done.
   create table akin.commit_requests (
     collection int primary key references akin.collections (id) on delete cascade,
     requested bigint not null default 0,
     completed bigint not null default 0
   );

   -- The values of an array, each once. In PL/pgSQL, because PostgreSQL inlines functions of plain SQL as subqueries,
   -- and a statement with this subquery could not run on several cores.
   create function akin.distinct_values(list anyarray) returns anyarray language plpgsql immutable parallel safe as
   'begin return array(select distinct unnest(list)); end';

   -- A long reader keeps what its commit shows: rows that a later commit replaced stay until then.
   create table akin.pins (
     id bigint generated always as identity primary key,
     collection int not null references akin.collections (id) on delete cascade,
     commit bigint not null,
     expires_at timestamptz not null
   );
   create index pins_collection on akin.pins (collection);
   -- The last reindex of a collection, by its name.
   create table akin.reindexes (
     name text collate "C" primary key,
     state text not null check (state in ('copying', 'analyzing', 'switching', 'paused', 'done', 'failed')),
     -- JSON of its settings, see ReindexSettings.
     settings text not null default '{}',
     -- The new collection, while it exists.
     target int,
     -- The process that works on it, and its last heartbeat.
     holder text not null,
     heartbeat_at timestamptz not null default now(),
     began_at timestamptz not null default now(),
     -- Documents to copy, those that are, those among them whose pictures are analyzed again, and those among these of
     -- which only the thumbnail existed.
     documents bigint not null default 0,
     copied bigint not null default 0,
     analyzed bigint not null default 0,
     thumbnails bigint not null default 0,
     -- Why it failed, and a JSON list of the documents that were not copied: {id, code, msg}.
     message text,
     missing text not null default '[]'
   );
   -- The reports of programs that index folders.
   create table akin.runs (
     -- A name: runs outlive a reindex of their collection.
     collection text collate "C" not null,
     id text collate "C" not null,
     started_at timestamptz not null default clock_timestamp(),
     reported_at timestamptz not null default clock_timestamp(),
     -- JSON, see runs.ts.
     report text not null,
     failures text not null,
     primary key (collection, id)
   );

   -- Keys of the API, see keys.
   create table akin.keys (
     -- The part of the key before the secret.
     id text collate "C" primary key,
     -- SHA-256 of the secret. The secret itself is not stored.
     hash bytea not null,
     scope text not null check (scope in ('search', 'index', 'admin')),
     note text not null,
     -- Names; null for all. Dropping a collection removes its name, so that a later collection of the same name is not accessible.
     collections text[] collate "C",
     -- Origins of web pages that may use it.
     origins text[] not null,
     -- Maximum requests per second.
     rate int,
     created_at timestamptz not null default now(),
     expires_at timestamptz,
     -- The only documents that it may see: a query. Null: all.
     filter text,
     -- The fields that each document it writes gets, as field=value.
     set_fields text[] not null default '{}',
     -- Updated at most once per hour.
     used_at timestamptz
   );

   -- The analyzers that take their jobs from Redis, see processes.ts. Unlogged for the same reason as search_times.
   create unlogged table akin.analyzers (
     name text primary key,
     address text not null,
     connected_at timestamptz not null,
     seen_at timestamptz not null default now()
   );

   -- When each process last searched, see throttle.ts. Unlogged, because the rows are outdated after a crash.
   create unlogged table akin.search_times (
     process text primary key,
     updated_at timestamptz not null default clock_timestamp()
   )`,
];

/** Any number that nothing else uses: two processes that start together must not migrate at the same time. */
const MIGRATION_LOCK = 0x616b696d;

export async function migrate(engine: Engine): Promise<void> {
  await engine.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK]);
    // "if not exists" reads catalogues as of before the wait for the lock, and then fails; a select does not.
    const made = await tx.query("select from pg_namespace where nspname = 'akin'");
    if (made.length === 0) await tx.query('create schema akin');
    await tx.query(
      'create table if not exists akin.migrations (number int primary key, applied_at timestamptz not null default now())',
    );
    const done = await appliedMigrations(tx);
    for (const [index, sql] of MIGRATIONS.entries()) {
      if (index < done) continue;
      await tx.query(sql);
      await tx.query('insert into akin.migrations (number) values ($1)', [index + 1]);
    }
  });
}

/** The number of the collection that exists from the start. */
const FIRST_COLLECTION_MADE = 0;

export async function isFirstCollectionMade(engine: Engine): Promise<boolean> {
  return (await engine.query('select 1 from akin.migrations where number = $1', [FIRST_COLLECTION_MADE])).length > 0;
}

export async function markFirstCollection(engine: Engine): Promise<void> {
  await engine.query('insert into akin.migrations (number) values ($1) on conflict do nothing', [
    FIRST_COLLECTION_MADE,
  ]);
}

async function appliedMigrations(tx: Queryable): Promise<number> {
  const [row] = await tx.query<{ done: number }>('select coalesce(max(number), 0) as done from akin.migrations');
  return row?.done ?? 0;
}
