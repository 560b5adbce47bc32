import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import path from 'node:path';
import { createAnalyzerWorker, measured } from '@akin/analyzer';
import { AkinError } from '@akin/domain';
import { type AccessConfig, asksForKeys, createGateway, type Gateway, type GatewayLimits } from '@akin/gateway';
import { type DownloadPolicy, makeThumbnail } from '@akin/imaging';
import { createIndexer } from '@akin/indexer';
import type { Analyzer, AnalyzerConfig } from '@akin/modules/analyze';
import { createMemoryQueue } from '@akin/queue/memory';
import { createLogger, type Logger } from '@akin/runtime';
import { createKey, listKeys, type ObjectsConfig, openStore } from '@akin/store';
import { openDataFolder } from './data-folder.ts';
import { describeOtherModels } from './describe-other-models.ts';
import { analyzeSentOrFetched, downloader } from './download.ts';
import { ContentModels } from './models/content-models.ts';
import { createModelAnalyzers } from './models/model-analyzers.ts';
import { originalsOf } from './originals/open-original.ts';
import { Parts } from './parts.ts';
import {
  createProcessMetrics,
  reportDisk,
  reportObjects,
  reportPoolUse,
  reportSearchMemory,
  reportStandbys,
} from './process-figures.ts';
import { runningServer, writeServerFile } from './server-file.ts';
import { openTracing } from './tracing.ts';
import { akinVersion } from './version.ts';

export interface ServeConfig {
  /** Folder of the embedded database, the demo and the lock. */
  readonly dataFolder: string;
  /** PostgreSQL instead of the embedded database. */
  readonly databaseUrl?: string;
  /** Standbys of the database, for searches. */
  readonly standbyUrls?: readonly string[];
  /** Other servers for shards, by name. */
  readonly shardServers?: ReadonlyMap<string, string>;
  readonly host: string;
  readonly port: number;
  readonly corsOrigins: readonly string[];
  /** Names in Host that are served besides those of this machine. */
  readonly allowedHosts?: readonly string[];
  /** From where pictures are downloaded; this machine and the internet unless given. */
  readonly downloadPolicy?: DownloadPolicy;
  readonly allowOpenNetwork: boolean;
  /** As the gateway takes it; it ends at once when not given. */
  readonly shutdownDelayMilliseconds?: number;
  /** Keys and rates; keys are asked for beyond loopback when not given. */
  readonly access?: AccessConfig;
  /** Where keys are asked for and there is none: is given one of the scope admin, which is made for it. */
  readonly tellFirstKey?: (key: string) => void;
  readonly legacySegment: string;
  readonly analysis: AnalyzerConfig;
  /** The folder of content models that collections may have; none but that of `analysis` when not given. */
  readonly models?: string;
  readonly logLevel: string;
  readonly webFolder: string;
  /** The gateway's own when not given. */
  readonly limits?: WaitingLimits;
  /** As the gateway takes it. */
  readonly retryRun?: (run: string) => boolean;
  /** As the store takes it. */
  readonly searchSlowdown?: number;
  readonly searchMemory?: number;
  readonly objects?: ObjectsConfig;
}

/** What may wait in each collection. */
export type WaitingLimits = Pick<GatewayLimits, 'waitingAnalyses' | 'unappliedChanges'>;

/** A thumbnail that comes with a document is small: what unfolds into more is none. */
export const THUMBNAIL_LIMITS = { pixels: 4_000_000 };

/** Of the few seconds that all parts have to close. What is not done then is done by the next start. */
const OPEN_REQUESTS_MILLISECONDS = 1_500;

/** A running akin: everything in one process. Disposing stops taking requests, drains, and closes, last opened first. */
export interface Served extends AsyncDisposable {
  readonly gateway: Gateway;
  /** Opens this akin to its own process, for as long as it runs. */
  readonly key: string;
  readonly models: ContentModels;
  /** The worker threads, for work of this process other than requests. */
  readonly analyzer: Analyzer;
}

/**
 * Starts gateway, indexer and analyzer in this process on PGlite, or on PostgreSQL.
 *
 * @param signal ends the start
 * @throws {AkinError} what the store, or a taken port, says; everything opened until then is closed again.
 * @throws the reason of the signal
 */
export async function serve(config: ServeConfig, signal: AbortSignal): Promise<Served> {
  const log = createLogger({ name: 'akin', level: config.logLevel });
  const parts = new Parts(log, signal);
  const close = () => parts[Symbol.asyncDispose]();
  try {
    return { ...(await open(config, log, parts, signal)), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw listenError(error, config) ?? (await servedError(error, config)) ?? error;
  }
}

async function open(
  config: ServeConfig,
  log: Logger,
  parts: Parts,
  signal: AbortSignal,
): Promise<Omit<Served, typeof Symbol.asyncDispose>> {
  const { threads } = config.analysis;
  const key = randomBytes(32).toString('hex');
  const metrics = createProcessMetrics('akin');
  await requireFreePort(config);
  await openTracing('akin', parts, log);
  const tell = (text: string) => log.warn(text);
  if (!config.databaseUrl) await openDataFolder(config.dataFolder, tell);
  const place = config.databaseUrl
    ? {
        databaseUrl: config.databaseUrl,
        standbyUrls: config.standbyUrls ?? [],
        shardServers: config.shardServers,
        ...(config.searchSlowdown === undefined ? {} : { searchSlowdown: config.searchSlowdown }),
      }
    : { folder: path.join(config.dataFolder, 'database'), tell };
  const models = new ContentModels({ contentModel: config.analysis.contentModel, models: config.models });
  const settings = {
    ...(config.searchMemory === undefined ? {} : { searchMemory: config.searchMemory }),
    ...(config.objects === undefined ? {} : { objects: config.objects }),
  };
  const opening = openStore({ ...models.forStore, ...place, ...settings, signal });
  // A folder has to be left in order; a server that does not answer is not waited for.
  const store = parts.keep('store', await (config.databaseUrl ? parts.unlessStopped(opening) : opening));
  if (config.tellFirstKey && asksForKeys(config) && (await listKeys(store)).length === 0) {
    config.tellFirstKey((await createKey(store, { scope: 'admin', note: 'made by the first start' })).text);
  }
  reportPoolUse(metrics, store);
  reportSearchMemory(metrics, store);
  reportObjects(metrics, store);
  reportStandbys(metrics, store, log);
  if (!config.databaseUrl) reportDisk(metrics, config.dataFolder);
  for (const line of await describeOtherModels(store)) process.stderr.write(`${line}\n`);
  const analyzer = parts.keep('analyzer', measured(await createModelAnalyzers(config.analysis, models), metrics));
  const queue = parts.keep('queue', createMemoryQueue());
  const policy = config.downloadPolicy ?? { allowLoopback: true, allowPrivate: false };
  const download = downloader(policy, analyzer.files);
  parts.keep('analyzer worker', createAnalyzerWorker({ queue, analyzer, threads, download, log, metrics }));
  const indexer = parts.keep('indexer', createIndexer({ store, queue, log, metrics }));
  const { shutdownDelayMilliseconds = 0 } = config;
  const gateway = parts.keep(
    'gateway',
    await createGateway({
      store,
      log,
      metrics,
      host: config.host,
      port: config.port,
      allowOpenNetwork: config.allowOpenNetwork,
      shutdownDelayMilliseconds,
      access: { ...config.access, fleetKey: key },
      corsOrigins: config.corsOrigins,
      ...(config.allowedHosts ? { allowedHosts: config.allowedHosts } : {}),
      legacySegment: config.legacySegment,
      webFolder: config.webFolder,
      version: akinVersion(),
      limits: { ...config.limits, shutdownMilliseconds: OPEN_REQUESTS_MILLISECONDS },
      commit: (collection) => indexer.commit(collection),
      wake: () => indexer.wake(),
      openOriginal: originalsOf(config.dataFolder, analyzer.files),
      ...(config.retryRun ? { retryRun: config.retryRun } : {}),
      makeThumbnail: (bytes) => makeThumbnail(bytes, THUMBNAIL_LIMITS),
      analyze: analyzeSentOrFetched(analyzer, download),
    }),
    shutdownDelayMilliseconds,
  );
  // Other commands can do without it.
  const file = openDataFolder(config.dataFolder, () => {}).then(() => writeServerFile(config.dataFolder, gateway.url));
  const written = await file.catch(
    (err) => void log.warn({ err }, 'commands do not find this akin by its data folder'),
  );
  if (written) parts.keep('server file', written);
  return { gateway, key, analyzer, models };
}

/** A folder that another akin has, with where that one answers. */
async function servedError(error: unknown, { dataFolder }: ServeConfig): Promise<AkinError | undefined> {
  if (!(error instanceof AkinError) || error.code !== 'conflict') return undefined;
  const server = await runningServer(dataFolder);
  return server && new AkinError('conflict', `${error.message} It answers at ${server.url}/.`, { cause: error });
}

/** Reports a port that is taken before the database is opened, whose lock would give a less clear error. */
async function requireFreePort({ host, port }: Pick<ServeConfig, 'host' | 'port'>): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => server.close(() => resolve()));
  });
}

/** Why it cannot listen, for the one who chose address and port. */
export function listenError(error: unknown, { host, port }: Pick<ServeConfig, 'host' | 'port'>): AkinError | undefined {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE') {
    return new AkinError('conflict', `Port ${port} is taken, perhaps by another akin: choose one with --port.`);
  }
  if (code === 'EACCES')
    return new AkinError('forbidden', `Port ${port} is not for everybody: choose one with --port.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new AkinError('bad-request', `${host} is no address of this machine: choose one with --host.`);
  }
  return undefined;
}
