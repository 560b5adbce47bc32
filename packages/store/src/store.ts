import { randomUUID } from 'node:crypto';
import { AkinError, type Calibration, type FieldValue, type ModuleManifest } from '@akin/domain';
import { Brake, exchangeSearchTimes } from './brake.ts';
import type { CellFinder } from './cells/codebook.ts';
import { createCollection, listCollections, updateTables } from './collections.ts';
import type { CommitRun } from './commit.ts';
import type { Engine } from './engine/engine.ts';
import { openPglite, type PgliteEngine } from './engine/pglite.ts';
import { CHANNEL, openPostgres } from './engine/postgres.ts';
import { isFirstCollectionMade, markFirstCollection, migrate } from './migrations.ts';
import { OperationEvents } from './operation-events.ts';
import { recover } from './recover.ts';
import type { CollectionSchema } from './schema.ts';

/** The outputs of an analysis as values: what `parseOutputs` of the modules gives. */
export interface ParsedOutputs {
  readonly fields: ReadonlyMap<string, FieldValue>;
  readonly descriptors: ReadonlyMap<string, { readonly vector: Float32Array; readonly cell: number }>;
  /** Kept with the text and given to `parseOutputs` again, spares it checks. */
  readonly mark?: string;
}

export type StoreConfig = {
  /** What the analysis gives: columns and tables are made from it. */
  readonly modules: readonly ModuleManifest[];
  /** Which model makes the descriptors of each module here: others are not mixed with them. Unchecked when not given. */
  readonly models?: ReadonlyMap<string, string>;
  /** What makes scores of the distances of those models: kept with the collections, for whoever opens them with others. */
  readonly calibrations?: ReadonlyMap<string, Calibration>;
  /** Reads the JSON text of outputs; throws AkinError. Given, so that the store needs no module. */
  readonly parseOutputs: (json: string, mark?: string) => ParsedOutputs;
  /** How long rows that a commit replaced stay for searches that began before it, in milliseconds. 60,000 when not given. */
  readonly graceMilliseconds?: number;
  /** Documents of a collection from which on fields that searches use get indexes. 5,000 when not given. */
  readonly indexedFrom?: number;
  /**
   * Collections of up to so many documents are always ranked exactly, and so are up to so many matches of larger ones.
   * 20,000 when not given.
   */
  readonly exactDocuments?: number;
  /**
   * How long each statement of a search may take. 30,000 on PostgreSQL and 20,000 on PGlite, where everybody else waits
   * for it, when not given.
   */
  readonly searchMilliseconds?: number;
  /**
   * How many times slower searches may get by bulk work on PostgreSQL, which rests so long between its pieces; it goes
   * on at a quarter of its speed at least. 0: it never rests. 1.3 when not given. PGlite's lanes see to that themselves.
   */
  readonly searchSlowdown?: number;
  /** Ends the opening, as soon as what it waits for lets it. */
  readonly signal?: AbortSignal;
} & (
  | {
      readonly folder: string;
      /** Hears what an operator should know about the embedded database. */
      readonly tell?: (text: string) => void;
    }
  | {
      readonly databaseUrl: string;
      /** Other processes use the database too: those that commit need a lease. */
      readonly shared?: boolean;
    }
);

/** An open store. The functions of this package take it as their first argument. */
export interface Store extends AsyncDisposable {
  readonly engine: Engine;
  readonly modules: readonly ModuleManifest[];
  readonly models: ReadonlyMap<string, string>;
  readonly calibrations: ReadonlyMap<string, Calibration>;
  readonly parseOutputs: (json: string, mark?: string) => ParsedOutputs;
  readonly graceMilliseconds: number;
  readonly indexedFrom: number;
  readonly exactDocuments: number;
  readonly searchMilliseconds: number;
  /** Whether other processes use the database too. */
  readonly shared: boolean;
  readonly brake: Brake;
  /** The number that this database gave the type `halfvec`: binary arrays name it. */
  readonly halfvecOid: number;
  /** Resolves when the database answers; rejects with `unavailable`. */
  ping(): Promise<void>;
  /** What this process remembers, by id of the collection. Nothing here is needed to be right, only to be quick. */
  readonly memory: {
    readonly schemas: Map<number, CollectionSchema>;
    /** The day on which a use of a field was last written down. */
    readonly uses: Map<number, Map<string, string>>;
    /** Words that are in the table of words. */
    readonly words: Map<number, Set<string>>;
    readonly commits: Map<number, CommitRun>;
    readonly events: OperationEvents;
    /** The centroids of the last generations, by id of the collection and module. */
    readonly cells: Map<string, { readonly number: number; readonly finder: CellFinder }[]>;
  };
}

const SEARCH_MILLISECONDS: Readonly<Record<Engine['kind'], number>> = { postgres: 30_000, pglite: 20_000 };

/** The collection that exists from the start. */
const FIRST_COLLECTION = 'my-collection';

/**
 * Opens the store in a folder (PGlite) or in a PostgreSQL database, brings its tables up to date and, unless others
 * share it, takes up what an earlier process left. An empty one gets the collection `my-collection`.
 *
 * @throws AkinError `conflict` when another akin uses it, when it was written by another version, or when the server
 * lacks something: the message says what to do. `unavailable` when it cannot be reached or is damaged.
 * @throws the reason of the signal
 */
export async function openStore(config: StoreConfig): Promise<Store> {
  const shared = 'shared' in config && config.shared === true;
  const { signal } = config;
  const events: OperationEvents = new OperationEvents(
    shared ? (collectionId) => engine.query('select pg_notify($1, $2)', [CHANNEL, String(collectionId)]) : undefined,
  );
  const engine: Engine =
    'folder' in config
      ? await openPglite(config.folder, {
          ...(config.tell ? { tell: config.tell } : {}),
          ...(signal ? { signal } : {}),
        })
      : await openPostgres(config.databaseUrl, shared ? { hear: (text) => events.hear(Number(text)) } : {});
  // What is asked of a closed database rejects.
  const close = () => void engine[Symbol.asyncDispose]();
  signal?.addEventListener('abort', close);
  try {
    signal?.throwIfAborted();
    if (engine.kind === 'pglite') await engine.query('create extension if not exists vector');
    const brake = openBrake(engine, config.searchSlowdown ?? 1.3, shared);
    const [type] = await engine.query<{ oid: bigint }>(`select 'halfvec'::regtype::oid::int8 as oid`);
    const store: Store = {
      engine,
      modules: config.modules,
      models: config.models ?? new Map(),
      calibrations: config.calibrations ?? new Map(),
      parseOutputs: config.parseOutputs,
      graceMilliseconds: config.graceMilliseconds ?? 60_000,
      exactDocuments: config.exactDocuments ?? 20_000,
      searchMilliseconds: config.searchMilliseconds ?? SEARCH_MILLISECONDS[engine.kind],
      indexedFrom: config.indexedFrom ?? 5_000,
      shared,
      brake,
      halfvecOid: Number(type?.oid),
      ping: async () => {
        await engine.query('select 1');
      },
      memory: { schemas: new Map(), uses: new Map(), words: new Map(), commits: new Map(), events, cells: new Map() },
      async [Symbol.asyncDispose]() {
        brake.stop();
        await engine[Symbol.asyncDispose]();
      },
    };
    await migrate(engine);
    await createFirstCollection(store);
    for (const collection of await listCollections(store)) await updateTables(store, collection);
    if (!shared) await recover(store);
    signal?.throwIfAborted();
    brake.start();
    return store;
  } catch (error) {
    await engine[Symbol.asyncDispose]();
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', close);
  }
}

function openBrake(engine: Engine, slowdown: number, shared: boolean): Brake {
  if (engine.kind === 'pglite') return new Brake(0);
  return new Brake(slowdown, shared ? exchangeSearchTimes(engine, randomUUID()) : undefined);
}

/** Once in the life of a database, also when several processes open it at once or one dies in between. */
async function createFirstCollection(store: Store): Promise<void> {
  if (await isFirstCollectionMade(store.engine)) return;
  try {
    await createCollection(store, FIRST_COLLECTION);
  } catch (error) {
    if (!(error instanceof AkinError) || error.code !== 'conflict') throw error;
  }
  await markFirstCollection(store.engine);
}

/**
 * Writes an embedded store into one file, which is whole and on the disk when this resolves. Searches wait meanwhile.
 * @throws AkinError bad-request when the store is in PostgreSQL, which has tools of its own for that
 */
export async function backup(store: Store, file: string): Promise<void> {
  if (store.engine.kind !== 'pglite') {
    throw new AkinError('bad-request', 'The store is in PostgreSQL: back it up with pg_dump, or as your server does.');
  }
  await (store.engine as PgliteEngine).backup(file);
}

/**
 * Fills a folder, which must hold no store yet, from a file that `backup` wrote.
 * @throws AkinError conflict when the folder holds a store
 */
export async function restore(folder: string, file: string): Promise<void> {
  await (await openPglite(folder, { backup: file }))[Symbol.asyncDispose]();
}
