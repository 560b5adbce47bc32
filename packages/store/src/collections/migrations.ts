import type { Engine, Queryable } from '../engine/engine.ts';
import { KNOWS, SERVERS, SHARDS } from '../engine/session.ts';

/**
 * The tables that all collections share. Append only: a released entry never changes, the next change is a new one at
 * the end. Each runs once, in a transaction.
 */
const MIGRATIONS: readonly string[] = [
  // 1: the registry of collections
  `create table akin.collections (
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
     -- The number of the last commit: a search sees the rows with valid_from <= commit and commit < valid_to.
     commit bigint not null default 0,
     committed_at timestamptz,
     -- Documents that the last commit shows, and what the next one adds to that (or, below 0, takes away).
     documents bigint not null default 0,
     unpublished_documents bigint not null default 0,
     -- Operations that were applied and wait for the next commit to be published.
     unpublished_operations bigint not null default 0
   )`,
  // 2: several processes on one database
  `-- Who may commit in a collection. A process that takes a lease over that ran out raises the epoch: what the holder before
   -- still writes names an older one, and is refused.
   create table akin.leases (
     collection int primary key references akin.collections (id) on delete cascade,
     epoch bigint not null,
     holder text not null,
     until timestamptz not null
   );
   -- Commits that were asked of the holder: it has done those up to \`done\`.
   create table akin.commit_requests (
     collection int primary key references akin.collections (id) on delete cascade,
     asked bigint not null default 0,
     done bigint not null default 0
   )`,

  // 3: the values of an array, each once. As a function, a statement that uses it can run on several cores: PostgreSQL
  // would put a function of plain SQL back into the statement, as a subquery, which may not.
  `create function akin.distinct_values(list anyarray) returns anyarray language plpgsql immutable parallel safe as
   'begin return array(select distinct unnest(list)); end'`,

  // 4: reading a collection for long, and reindexing it next to itself
  `-- A long reader keeps what its commit shows: rows that a later commit replaced stay until then.
   create table akin.pins (
     id bigint generated always as identity primary key,
     collection int not null references akin.collections (id) on delete cascade,
     commit bigint not null,
     until timestamptz not null
   );
   create index pins_collection on akin.pins (collection);
   alter table akin.collections
     -- Since when another collection has its name: nobody uses it any more but who began before.
     add column replaced_at timestamptz,
     -- The one whose place it took, with all its operations: what was told of them still holds.
     add column replaces int,
     -- Nothing is accepted until then, while another collection takes its place.
     add column held_until timestamptz;
   -- The last reindex of a collection, by its name.
   create table akin.reindexes (
     name text collate "C" primary key,
     state text not null check (state in ('copying', 'analyzing', 'switching', 'done', 'failed')),
     -- The collection that is to take its place, while there is one.
     target int,
     -- Who is at it, and when last.
     worker text not null,
     beat_at timestamptz not null default now(),
     began_at timestamptz not null default now(),
     -- Documents to copy, those that are, and those among them whose pictures are analyzed again.
     documents bigint not null default 0,
     copied bigint not null default 0,
     analyzed bigint not null default 0,
     -- What went wrong, and a JSON list of documents that did not come along: {id, code, msg}.
     message text,
     missing text not null default '[]'
   )`,

  // 5: who may ask for what, see keys
  `create table akin.keys (
     -- Stands in the key, before the secret.
     id text collate "C" primary key,
     -- SHA-256 of the secret, which is nowhere else.
     hash bytea not null,
     scope text not null check (scope in ('search', 'index', 'admin')),
     note text not null,
     -- Names; null for all. A collection that is dropped is taken out, so that the next of its name is not for the key.
     collections text[] collate "C",
     -- Whose pages may use it.
     origins text[] not null,
     -- Requests a second.
     rate int,
     created_at timestamptz not null default now(),
     expires_at timestamptz,
     -- To the hour.
     used_at timestamptz
   )`,

  // 6: how long the searches of each process took lately, see throttle.ts; what a crash of the server loses is of no use then
  `create unlogged table akin.search_times (
     process text primary key,
     searches int not null,
     p95 double precision not null,
     at timestamptz not null default clock_timestamp()
   )`,

  // 7: whether the holder has the models of the collection, see leases
  'alter table akin.leases add column fits boolean not null default true',

  // 8: many collections
  `-- A process renews all its leases in one row: a lease is free when neither its own end nor that of its holder is ahead.
   create table akin.lease_holders (
     holder text primary key,
     until timestamptz not null
   );
   -- All changes with lower numbers are dealt with: a collection where this is next_seq has none under way.
   alter table akin.collections add column settled_seq bigint`,

  // 9: what programs that index folders say about their runs
  `create table akin.runs (
     -- A name: runs outlive a reindex of their collection.
     collection text collate "C" not null,
     id text collate "C" not null,
     started_at timestamptz not null default clock_timestamp(),
     told_at timestamptz not null default clock_timestamp(),
     -- JSON, see runs.ts.
     report text not null,
     failures text not null,
     primary key (collection, id)
   )`,

  // 10: reindexes that are paused, and that go on after their process ended
  `alter table akin.reindexes
     drop constraint reindexes_state_check,
     add constraint reindexes_state_check
       check (state in ('copying', 'analyzing', 'switching', 'paused', 'done', 'failed')),
     -- JSON: what it was begun with, see ReindexSettings.
     add column settings text not null default '{}',
     -- Of the pictures that were analyzed again, those of which only the thumbnail was there.
     add column thumbnails bigint not null default 0`,

  // 11: An akin that knows no shards must not lead a collection of several: its delete by query would look through all
  // numbers between the documents of two shards. It takes no lease there, because its sessions do not say what they know.
  `create function akin.keep_lease() returns trigger language plpgsql as
   'begin
      if current_setting(''${KNOWS}'', true) is distinct from ''${SHARDS}''
         and (select (settings::json ->> ''shards'')::int from akin.collections where id = new.collection) > 1 then
        return null;
      end if;
      return new;
    end';
   create trigger keep_lease before insert or update of holder on akin.leases
     for each row execute function akin.keep_lease()`,

  // 12: outputs and thumbnails in objects outside of the database, see objects/packs
  `create table akin.object_store (
     -- One row, once a process was started with a place for objects: the place has the id too.
     id uuid primary key,
     -- When garbage was last looked for.
     collected_at timestamptz not null default now()
   );
   create table akin.packs (
     pack uuid primary key,
     -- Whose rows are in it; one that is dropped leaves it to be deleted.
     collection int not null,
     bytes int not null,
     created_at timestamptz not null default now(),
     -- Since when no row is in it.
     unused_since timestamptz
   );
   create index packs_collection on akin.packs (collection, pack)`,

  // 13: shards of a commit that several processes apply side by side, see commit/shard-leases
  `-- Those that are not done; none while no commit has offered any.
   create table akin.shard_leases (
     collection int not null references akin.collections (id) on delete cascade,
     shard int not null,
     -- What is to be applied: the operations with lower numbers.
     below bigint not null,
     -- Who takes the shard draws one. What the holder before still writes names another one, and is refused.
     claim uuid,
     until timestamptz not null default '-infinity',
     primary key (collection, shard)
   )`,

  // 14: Nor must an akin lead a collection with shards on other servers that does not know of those: what it writes there
  // could not be taken back. See commit/chunks.
  `create or replace function akin.keep_lease() returns trigger language plpgsql as
   'declare
      knows text[] := string_to_array(coalesce(current_setting(''${KNOWS}'', true), ''''), '' '');
      settings json := (select c.settings::json from akin.collections c where c.id = new.collection);
    begin
      if (settings ->> ''shards'')::int > 1 and not ''${SHARDS}'' = any (knows) then return null; end if;
      if settings -> ''shardServers'' is not null and not ''${SERVERS}'' = any (knows) then return null; end if;
      return new;
    end'`,

  // 15: quotas of collections, see accept/quota
  `alter table akin.collections
     -- The most documents and bytes that it may have; null: any number.
     add column max_documents bigint,
     add column max_bytes bigint,
     -- Bytes of the documents that the last commit shows, and what the next one adds to that.
     add column bytes bigint not null default 0,
     add column unpublished_bytes bigint not null default 0,
     -- Bytes of all changes that were ever accepted.
     add column accepted_bytes bigint not null default 0`,
];

/** Any number that nothing else uses: two processes that start together must not migrate at the same time. */
const MIGRATION_LOCK = 0x616b696d;

/** Updates the shared tables. */
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

/** Whether the first collection was created. */
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
