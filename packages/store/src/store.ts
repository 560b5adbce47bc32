import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { AkinError } from '@akin/domain';
import { connectionName, type ProcessName } from '@akin/runtime';
import { OperationEvents } from './changes/accept/operation-events.ts';
import { FairSemaphore, MAX_APPLIED } from './changes/commit/fair-semaphore.ts';
import type { Store } from './changes/context.ts';
import { createCollection, listCollections, updateTables } from './database/collections/collections.ts';
import { isFirstCollectionMade, markFirstCollection, migrate } from './database/collections/migrations.ts';
import type { Engine } from './database/engine/engine.ts';
import { openPglite, type PgliteEngine } from './database/engine/pglite.ts';
import { CHANNEL, openPostgres } from './database/engine/postgres.ts';
import { exchangeSearches, Throttle } from './database/engine/throttle.ts';
import { Memory } from './database/memory.ts';
import { type DescriptorTexts, type FindModelSet, type ModelSet, ModelSets } from './database/model-sets.ts';
import { Standbys } from './database/standbys/standbys.ts';
import { recover } from './maintenance/recover.ts';
import { InMemorySearch } from './search/searcher/in-memory-search.ts';

/** With the models of this process. Without `models`, descriptors of different models are not distinguished. */
export type StoreConfig = Partial<ModelSet> & {
  /** The outputs of the analysis: columns and tables are created from them. */
  readonly modules: ModelSet['modules'];
  /** Other models that this process can use, see {@link FindModelSet}. Default: none. */
  readonly findModelSet?: FindModelSet;
  /** Parses the JSON text of outputs; throws AkinError. Passed in, so that the store needs no module. */
  readonly parseOutputs: ModelSet['parseOutputs'];
  readonly descriptorTexts: DescriptorTexts;
  /** Modules that analyze pictures where a collection does not name its own. Default: all that are not optional. */
  readonly defaultModules?: readonly string[] | undefined;
  /** How long replaced rows stay for searches that began before the commit, in milliseconds. Default: 60,000. */
  readonly graceMilliseconds?: number;
  /** From this number of documents on, fields that searches use get indexes. Default: 5,000. */
  readonly indexedFrom?: number;
  /**
   * Collections with at most this many documents are always ranked exactly, as are searches with at most this many
   * matches. Default: 20,000.
   */
  readonly exactDocuments?: number;
  /** Bytes of memory for the vectors and filters of searched collections. Default: 15 % of what the process may use. */
  readonly searchMemory?: number;
  /**
   * Time limit of each statement of a search. Default: 30,000 on PostgreSQL and 20,000 on PGlite, where everything else
   * waits for it.
   */
  readonly searchMilliseconds?: number;
  /**
   * From this number of operations on, a commit applies each shard of the collection separately, so that other
   * processes can help. Default: 2,000.
   */
  readonly shardsFrom?: number;
  /**
   * Whether bulk work on PostgreSQL pauses between its pieces while there are searches. Default: true. On PGlite the
   * lanes do this.
   */
  readonly throttled?: boolean;
  /** Aborts the opening as soon as possible. */
  readonly signal?: AbortSignal;
} & (
    | {
        readonly folder: string;
        /** Gets messages for the operator about the embedded database. */
        readonly warn?: (text: string) => void;
      }
    | {
        readonly databaseUrl: string;
        /** Other processes use the database too: those that commit need a lease. */
        readonly shared?: boolean;
        /** This process, as the others see it. */
        readonly process?: ProcessName;
        /** Standbys of the database, from which searches are read if they are current enough. */
        readonly standbyUrls?: readonly string[];
      }
  );

const SEARCH_MILLISECONDS: Readonly<Record<Engine['kind'], number>> = { postgres: 30_000, pglite: 20_000 };

const FIRST_COLLECTION = 'my-collection';

/**
 * Opens the store in a folder (PGlite) or in a PostgreSQL database, updates its tables and, unless others share it,
 * cleans up after an earlier process. An empty one gets the collection `my-collection`.
 *
 * @throws AkinError `conflict` if another akin uses it, if another version wrote it, or if the server lacks something:
 * the message says what to do. `unavailable` if it cannot be reached or is damaged.
 * @throws the reason of the signal
 */
export async function openStore(config: StoreConfig): Promise<Store> {
  const shared = 'shared' in config && config.shared === true;
  const { signal } = config;
  const events: OperationEvents = new OperationEvents(
    shared ? (collectionId) => engine.query('select pg_notify($1, $2)', [CHANNEL, String(collectionId)]) : undefined,
  );
  let forget = () => {};
  const engine: Engine =
    'folder' in config
      ? await openPglite(config.folder, {
          ...(config.warn ? { warn: config.warn } : {}),
          ...(signal ? { signal } : {}),
        })
      : await openPostgres(config.databaseUrl, {
          name: config.process && connectionName(config.process),
          ...(shared ? { onNotification: (text) => events.receive(Number(text)) } : {}),
          timelineChanged: () => forget(),
        });
  // Calls to a closed database reject.
  const close = () => void engine[Symbol.asyncDispose]();
  signal?.addEventListener('abort', close);
  let opened: AsyncDisposable = engine;
  try {
    signal?.throwIfAborted();
    if (engine.kind === 'pglite') await engine.query('create extension if not exists vector');
    const throttle = openThrottle(engine, config.throttled ?? true, shared);
    const exactDocuments = config.exactDocuments ?? 20_000;
    const searchMilliseconds = config.searchMilliseconds ?? SEARCH_MILLISECONDS[engine.kind];
    const standbys = new Standbys(engine, {
      urls: ('standbyUrls' in config && config.standbyUrls) || [],
      name: ('process' in config && config.process && connectionName(config.process)) || 'akin',
      milliseconds: searchMilliseconds,
    });
    const inMemory = new InMemorySearch({
      exactRows: exactDocuments,
      memory: config.searchMemory,
      pointsOf: (module) => config.modules.find(({ name }) => name === module)?.points,
    });
    const own: ModelSet = {
      modules: config.modules,
      models: config.models ?? new Map(),
      calibrations: config.calibrations ?? new Map(),
      textCalibration: config.textCalibration,
      contentVector: config.contentVector,
      contentName: config.contentName,
      parseOutputs: config.parseOutputs,
    };
    const store: Store = {
      engine,
      standbys,
      ...own,
      modelSets: new ModelSets(own, config.findModelSet),
      descriptorTexts: config.descriptorTexts,
      graceMilliseconds: config.graceMilliseconds ?? 60_000,
      exactDocuments,
      searchMilliseconds,
      defaultModules: config.defaultModules,
      indexedFrom: config.indexedFrom ?? 5_000,
      shardsFrom: config.shardsFrom ?? 2_000,
      shared,
      throttle,
      inMemory,
      ping: async () => {
        await engine.query('select 1');
      },
      memory: new Memory(),
      commits: new Map(),
      commitSemaphore: createCommitSemaphore(engine, throttle),
      events,
      async [Symbol.asyncDispose]() {
        throttle.stop();
        await inMemory[Symbol.asyncDispose]();
        await standbys[Symbol.asyncDispose]();
        await engine[Symbol.asyncDispose]();
      },
    };
    opened = store;
    forget = () => {
      store.memory.forgetAll();
      inMemory.unloadAll();
      standbys.timelineChanged();
    };
    await migrate(engine);
    await createFirstCollection(store);
    for (const collection of await listCollections(store)) await updateTables(store, collection);
    if (!shared) await recover(store);
    signal?.throwIfAborted();
    throttle.start();
    // Searches are read from the primary until they answer.
    void standbys.check();
    return store;
  } catch (error) {
    await opened[Symbol.asyncDispose]();
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener('abort', close);
  }
}

/** While searches are slowed, one at a time is enough. */
function createCommitSemaphore(engine: Engine, throttle: Throttle): FairSemaphore {
  return new FairSemaphore(() => (engine.kind === 'pglite' || throttle.isPausing ? 1 : MAX_APPLIED));
}

function openThrottle(engine: Engine, isOn: boolean, shared: boolean): Throttle {
  if (engine.kind === 'pglite') return new Throttle(false);
  return new Throttle(isOn, shared ? exchangeSearches(engine, randomUUID()) : undefined);
}

/** Once in the life of a database, even if several processes open it at once or one dies in between. */
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
 * The bytes of a backup of an embedded store in use: `restore` reads them from a file. It contains everything that was
 * accepted before the call.
 * @throws AkinError bad-request if the store is in PostgreSQL, which has its own tools for that
 * @throws AkinError conflict while another backup runs
 */
export async function backup(store: Store): Promise<Readable> {
  if (store.engine.kind !== 'pglite') {
    throw new AkinError(
      'bad-request',
      'The store is in PostgreSQL: back it up with pg_dump (infra/scripts/backup.sh), or with the tools of your server.',
    );
  }
  return (store.engine as PgliteEngine).backup();
}

/**
 * Fills a folder, which must contain no store yet, from a file with the bytes of `backup`. @throws AkinError conflict
 * if the folder contains a store
 */
export async function restore(folder: string, file: string): Promise<void> {
  await (await openPglite(folder, { backup: file }))[Symbol.asyncDispose]();
}
