import { AkinError, isCollectionName } from '@akin/domain';
import type { Collection, CollectionSchema, Database } from '../context.ts';
import type { Queryable, Row } from '../engine/engine.ts';
import { sqlStateOf } from '../engine/sqlstate.ts';
import { remembered } from '../memory.ts';
import type { ModelSet } from '../model-sets.ts';
import { createTables, TABLES_VERSION } from './collection-tables.ts';
import { refreshView } from './fields.ts';
import { configuredModelSet, modelName } from './model-set.ts';
import { claimModel, claimModels } from './models.ts';
import { createModuleTables } from './module-tables.ts';
import { NO_QUOTA, type Quota, type QuotaRow, quotaOf } from './quota.ts';
import { schemasOf } from './schema.ts';
import { requireShards, shardsOf } from './shards.ts';
import { goneError } from './swap.ts';

export interface CollectionStatus {
  readonly documents: number;
  /** Number of the last commit. 0 before the first one. */
  readonly commit: number;
  readonly committedAt: Date | null;
  /** Accepted operations that are not visible yet. */
  readonly pending: number;
  /** When the oldest of them was accepted: now, if all of them only have to be published. Null if there are none. */
  readonly pendingSince: Date | null;
  /** Failed operations that no later change has made void. */
  readonly failed: number;
  /** Number of failures by reason, which is an error code. */
  readonly failures: Readonly<Record<string, number>>;
  /** The model of the content descriptors. Undefined before it is known. */
  readonly contentModel: string | undefined;
  readonly shards: number;
  /** Bytes of its documents: values of fields, outputs and thumbnails. */
  readonly bytes: number;
  readonly quota: Quota;
}

const collectionsOf = remembered<Collection, string>();

const COLUMNS = 'id, name, sql_schema, settings, predecessor';
const UNIQUE_VIOLATION = '23505';

/** Those that no other one has replaced, by name. */
export function listCollections({ engine }: Database): Promise<Collection[]> {
  return readCollections(engine, 'replaced_at is null order by name');
}

/** @param where and the order, as SQL */
export async function readCollections(
  tx: Queryable,
  where: string,
  params: readonly number[] = [],
): Promise<Collection[]> {
  const rows = await tx.query(`select ${COLUMNS} from akin.collections where ${where}`, params);
  return rows.map(fromRow);
}

/** A collection, and the numbers that show whether it has pending work. */
export interface CollectionState {
  readonly collection: Collection;
  /** Changes with each change of the row of the collection: accepted, applied, published or defined. */
  readonly version: string;
  /** Version of the fields, see `loadSchema`. */
  readonly schemaVersion: number;
  /** Whether there are unfinished accepted changes: some wait for an analysis or for a commit. */
  readonly open: boolean;
  /** Whether its pictures wait until its paused reindex continues. */
  readonly held: boolean;
}

/** Collections with their states, by name: one statement, however many there are. */
export async function collectionStates(store: Database, only: 'open' | 'all' = 'all'): Promise<CollectionState[]> {
  const condition = only === 'open' ? `and ${OPEN}` : '';
  const rows = await store.engine.query(
    `select ${COLUMNS}, xmin::text as version, schema_version, ${OPEN} as open, ${HELD} as held
       from akin.collections where replaced_at is null ${condition} order by name`,
  );
  return rows.map((row) => ({
    collection: fromRow(row),
    version: row.version,
    schemaVersion: row.schema_version,
    open: row.open,
    held: row.held,
  }));
}

/** See `settled_seq` in the migrations. */
const OPEN = '(settled_seq is distinct from next_seq or unpublished_operations > 0)';

/** The target of a paused reindex. */
const HELD =
  "exists (select from akin.reindexes r where r.target = collections.id and r.name <> collections.name and r.state = 'paused')";

/** Notifies housekeeping of work in a collection that has not changed otherwise. */
export async function notifyHousekeeping(tx: Queryable, { id }: Collection): Promise<void> {
  // This changes the version of the row.
  await tx.query('update akin.collections set name = name where id = $1', [id]);
}

/** The collection with a number, if it exists and was not replaced. */
export async function collectionOf({ engine }: Database, id: number): Promise<Collection | undefined> {
  return (await readCollections(engine, 'id = $1 and replaced_at is null', [id]))[0];
}

/** The collection that a reindex put in the place of another one, if it did. */
export async function successorOf({ engine }: Database, { id }: Collection): Promise<Collection | undefined> {
  return (await readCollections(engine, 'predecessor = $1', [id]))[0];
}

/** @throws AkinError not-found that names it and existing ones */
export async function findCollection(store: Database, name: string): Promise<Collection> {
  // As searches do, which usually come next: a connection needs a statement to change its time limit.
  const options = { timeoutMilliseconds: store.searchMilliseconds, isSearch: false };
  const [row] = await store.engine.read(`select ${COLUMNS} from akin.collections where name = $1`, [name], options);
  if (row !== undefined) {
    const collection = fromRow(row);
    collectionsOf(store).set(name, collection);
    return collection;
  }
  collectionsOf(store).delete(name);
  const others = (await listCollections(store)).map((collection) => collection.name).slice(0, 10);
  throw new AkinError(
    'not-found',
    `There is no collection ${JSON.stringify(name.slice(0, 100))}. ${others.length > 0 ? `There is ${others.join(', ')}.` : 'There is none yet.'} Create it with PUT /api/cores/${isCollectionName(name) ? name : '{name}'}.`,
  );
}

/** The cached state of a collection with its fields, if any: for callers whose result shows whether it was current. */
export function cachedCollection(
  store: Database,
  name: string,
): { readonly collection: Collection; readonly schema: CollectionSchema } | undefined {
  const collection = collectionsOf(store).get(name);
  const schema = collection && schemasOf(store).get(collection.id);
  return collection && schema && { collection, schema };
}

/**
 * @param settings `model`: the name of its models; default: those of the process. `shards`: number of shards; default:
 * 1.
 * @throws AkinError bad-request if the name is invalid, the models are not here or the number of shards is not
 * possible; conflict if it exists
 */
export async function createCollection(
  store: Database,
  name: string,
  settings: Readonly<Record<string, unknown>> = {},
  quota = NO_QUOTA,
): Promise<Collection> {
  if (!isCollectionName(name)) {
    throw new AkinError(
      'bad-request',
      'The name of a collection is 1 to 100 letters, digits, dots, hyphens and underscores, and begins with a letter or digit.',
    );
  }
  requireShards(shardsOf({ settings }));
  await store.engine.disk?.requireSpace('changes');
  const model = modelName({ settings });
  const wanted = model === undefined ? store : await store.modelSets.ofName(model);
  try {
    return await store.engine.transaction(async (tx) => {
      const [made] = await tx.query<{ id: number }>(
        `insert into akin.collections (name, sql_schema, settings, settled_seq, max_documents, max_bytes)
         values ($1, '', $2, 1, $3, $4) returning id`,
        [name, JSON.stringify(settings), quota.maxDocuments, quota.maxBytes],
      );
      const [row] = await tx.query(`update akin.collections set sql_schema = $2 where id = $1 returning ${COLUMNS}`, [
        made?.id ?? 0,
        `c${made?.id}_${slug(name)}`,
      ]);
      if (row === undefined) throw new Error('insert returned no row');
      const collection = fromRow(row);
      await tx.query(`create schema ${collection.sqlSchema}`);
      await createMissingTables(store, collection, wanted, tx);
      return collection;
    });
  } catch (error) {
    if (sqlStateOf(error) !== UNIQUE_VIOLATION) throw error;
    throw new AkinError('conflict', `The collection ${name} exists already.`, { cause: error });
  }
}

/** SQL of the failures by reason, as a JSON object. */
function failuresSql(S: string): string {
  return `(select json_object_agg(code, count) from (
    select code, sum(delta) as count from ${S}.failure_counts group by code having sum(delta) > 0) counted)`;
}

export async function collectionStatus(store: Database, collection: Collection): Promise<CollectionStatus> {
  const S = collection.sqlSchema;
  // One count for each state: each has an index, which is empty if nothing is pending.
  const open = ['queued', 'analyzing', 'ready'].map(
    (state) => `+ (select count(*) from ${S}.requests r join ${S}.operations o using (request)
                    where o.state = '${state}' and not r.finished and r.first_seq is not null)`,
  );
  const sql = `select c.documents::float8 as documents, c.commit::float8 as commit, c.committed_at as "committedAt",
                      (c.unpublished_operations ${open.join(' ')})::float8 as pending,
                      coalesce((select accepted_at from ${S}.requests where not finished and first_seq is not null
                                 order by first_seq limit 1),
                               case when c.unpublished_operations > 0 then now() end) as "pendingSince",
                      c.bytes::float8 as bytes,
                      c.max_documents, c.max_bytes, ${failuresSql(S)} as failures,
                      (select model from ${S}.descriptor_counts where module = 'content') as model
                 from akin.collections c where c.id = $1`;
  type StatusRow = Omit<CollectionStatus, 'failed' | 'failures' | 'contentModel' | 'shards' | 'quota'> &
    QuotaRow & { failures: string | null; model: string | null };
  const read = (tx: Queryable) => tx.query<StatusRow>(sql, [collection.id]);
  const [row] = await store.engine.transaction(read, { keyed: true });
  if (row === undefined) throw goneError(collection);
  const { documents, commit, committedAt, pending, pendingSince, bytes } = row;
  const failures: Record<string, number> = JSON.parse(row.failures ?? '{}');
  return {
    documents,
    commit,
    committedAt,
    pending,
    pendingSince,
    bytes,
    failures,
    failed: Object.values(failures).reduce((sum, count) => sum + count, 0),
    contentModel: row.model ?? undefined,
    shards: shardsOf(collection),
    quota: quotaOf(row),
  };
}

/** Updates the tables of a collection that an earlier version of akin, or one with other modules, created. */
export async function updateTables(store: Database, collection: Collection): Promise<void> {
  const [row] = await store.engine.query('select tables_version, modules from akin.collections where id = $1', [
    collection.id,
  ]);
  if (row === undefined || row.tables_version < TABLES_VERSION || row.modules !== modulesText(store)) {
    const wanted = await configuredModelSet(store, collection);
    await store.engine.transaction((tx) => createMissingTables(store, collection, wanted, tx));
  }
  await claimModels(store, collection);
}

async function createMissingTables(
  store: Database,
  collection: Collection,
  wanted: ModelSet | undefined,
  tx: Queryable,
): Promise<void> {
  const [row] = await tx.query<{ tables_version: number }>(
    'select tables_version from akin.collections where id = $1 for update',
    [collection.id],
  );
  await createTables(tx, collection, row?.tables_version ?? 0);
  for (const module of wanted?.modules ?? store.modules) {
    await createModuleTables(tx, collection, module);
    if (wanted !== undefined) await claimModel(wanted, collection, module, tx);
  }
  await refreshView(tx, collection);
  // If this version wrote its own number over that of a newer one, that one would run its statements again.
  await tx.query(
    'update akin.collections set tables_version = greatest(tables_version, $2), modules = $3, schema_version = schema_version + 1 where id = $1',
    [collection.id, TABLES_VERSION, modulesText(store)],
  );
}

/** What the tables depend on. */
function modulesText(store: Database): string {
  return JSON.stringify(
    store.modules.map(({ name, descriptor, outputs }) => [
      name,
      descriptor?.dimensions ?? 0,
      outputs.map((output) => [output.name, output.type, output.returnedByDefault]),
    ]),
  );
}

/** Readable in psql, safe as an identifier. */
function slug(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .slice(0, 40);
}

function fromRow(row: Row): Collection {
  return {
    id: row.id,
    name: row.name,
    sqlSchema: row.sql_schema,
    settings: JSON.parse(row.settings),
    ...(row.predecessor === null ? {} : { predecessor: row.predecessor }),
  };
}
