import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { createAnalyzerWorker, withMetrics } from '@akin/analyzer';
import { AkinError, badRequest } from '@akin/domain';
import { type AccessConfig, createGateway, type Gateway, type GatewayLimits, requiresKeys } from '@akin/gateway';
import { type DownloadSettings, makeThumbnail } from '@akin/imaging';
import { createIndexer } from '@akin/indexer';
import type { Analyzer, AnalyzerConfig } from '@akin/modules/analyze';
import { createMemoryQueue } from '@akin/queue/memory';
import type { Logger } from '@akin/runtime';
import { createLogger } from '@akin/runtime/observability';
import { openStore } from '@akin/store';
import { createKey, listKeys } from '@akin/store/search';
import { openDataFolder, printToStandardError } from './data-folder.ts';
import { describeOtherModels } from './describe-other-models.ts';
import { analyzeSentOrFetched, downloader } from './download.ts';
import { ContentModels } from './models/content-models.ts';
import { createModelAnalyzers } from './models/model-analyzers.ts';
import { ModelLibrary } from './models/model-library.ts';
import { originalsOf } from './originals/open-original.ts';
import {
  createProcessMetrics,
  reportDisk,
  reportPoolUse,
  reportSearchMemory,
  reportStandbys,
} from './process-metrics.ts';
import { runningServer, ServerFile, waitUntilStopped } from './server-file.ts';
import { ShutdownStack } from './shutdown-stack.ts';
import { answerWhileStarting } from './starting-server.ts';
import { openTracing } from './tracing.ts';
import { akinVersion } from './version.ts';

export interface ServeConfig {
  readonly dataFolder: string;
  readonly databaseUrl?: string;
  readonly standbyUrls?: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly corsOrigins: readonly string[];
  /** Host names to accept in addition to those of this machine. */
  readonly allowedHosts?: readonly string[];
  /** Where pictures are downloaded from, and how. Default: from this machine and the internet. */
  readonly downloads?: DownloadSettings;
  readonly allowOpenNetwork: boolean;
  /** As the gateway expects it. Default: it ends at once. */
  readonly shutdownDelayMilliseconds?: number;
  /** Keys and rates. Default: keys are required beyond loopback. */
  readonly access?: AccessConfig;
  /** Called with a new key of the scope admin, if keys are required and none exists. */
  readonly printFirstKey?: (key: string) => void;
  readonly legacySegment: string;
  readonly analysis: AnalyzerConfig;
  /** The folder of content models for collections. Default: only the model of `analysis`. */
  readonly models?: string;
  /** The server from which clients of the scope admin may have models downloaded. Default: none. */
  readonly mirror?: string | undefined;
  readonly logLevel: string;
  readonly webFolder: string;
  /** Default: that of the gateway. */
  readonly limits?: BacklogLimits & Partial<GatewayLimits>;
  /** As the gateway expects it. */
  readonly retryRun?: (run: string) => boolean;
  /** As the store expects it. */
  readonly throttled?: boolean;
  readonly searchMemory?: number;
  /** Modules that analyze pictures where a collection does not name its own. */
  readonly defaultModules?: readonly string[] | undefined;
}

export type BacklogLimits = Pick<GatewayLimits, 'waitingAnalyses' | 'unappliedChanges'>;

/** A thumbnail that comes with a document is small. A body that decompresses to more is not a thumbnail. */
export const THUMBNAIL_LIMITS = { pixels: 4_000_000 };

/** At shutdown, open requests have this time: a part of the few seconds in which everything closes. */
const OPEN_REQUESTS_MILLISECONDS = 1_500;

/**
 * A running akin: everything in one process. Disposing stops accepting requests, drains, and closes in reverse order of
 * opening.
 */
export interface AkinServer extends AsyncDisposable {
  readonly gateway: Gateway;
  /** Gives its own process access to this akin, as long as it runs. */
  readonly key: string;
  readonly models: ContentModels;
  /** The worker threads, for work of this process other than requests. */
  readonly analyzer: Analyzer;
}

/**
 * Starts gateway, indexer and analyzer in this process on PGlite, or on PostgreSQL.
 *
 * @param signal ends the start
 * @throws {AkinError} of the store, or if the port is in use; everything opened until then is closed again
 * @throws the reason of the signal
 */
export async function serve(config: ServeConfig, signal: AbortSignal): Promise<AkinServer> {
  const log = createLogger({ name: 'akin', level: config.logLevel });
  const parts = new ShutdownStack(log, signal);
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
  parts: ShutdownStack,
  signal: AbortSignal,
): Promise<Omit<AkinServer, typeof Symbol.asyncDispose>> {
  const { threads } = config.analysis;
  const key = randomBytes(32).toString('hex');
  const metrics = createProcessMetrics('akin');
  await waitUntilStopped(config.dataFolder, printToStandardError, signal);
  const { host, port, allowOpenNetwork, access, allowedHosts } = config;
  const listen = { host, port, allowOpenNetwork, ...(access && { access }), ...(allowedHosts && { allowedHosts }) };
  // It says nothing in the log: the page of an earlier akin asks all the time.
  const quiet = { ...listen, log: createLogger({ name: 'akin', level: 'silent' }), metrics };
  await using starting = await answerWhileStarting(quiet, () => 'akin is starting: try again in a few seconds.');
  // First of all parts: it is closed last, when nothing is used any more.
  const serverFile = parts.use('server file', new ServerFile(config.dataFolder));
  signal.addEventListener('abort', () => serverFile.markStopping(), { once: true });
  await openTracing('akin', parts, log);
  const warn = (text: string) => log.warn(text);
  if (!config.databaseUrl) await openDataFolder(config.dataFolder, warn);
  const location = config.databaseUrl
    ? {
        databaseUrl: config.databaseUrl,
        standbyUrls: config.standbyUrls ?? [],
        ...(config.throttled === undefined ? {} : { throttled: config.throttled }),
      }
    : { folder: path.join(config.dataFolder, 'database'), warn };
  const models = new ContentModels({ contentModel: config.analysis.contentModel, models: config.models });
  const settings = {
    ...(config.searchMemory === undefined ? {} : { searchMemory: config.searchMemory }),
    defaultModules: config.defaultModules,
  };
  const opening = openStore({ ...models.forStore, ...location, ...settings, signal });
  // Waits for a folder to be closed properly, but not for a server that does not answer.
  const store = parts.use('store', await (config.databaseUrl ? parts.unlessStopped(opening) : opening));
  if (config.printFirstKey && requiresKeys(config) && (await listKeys(store)).length === 0) {
    config.printFirstKey((await createKey(store, { scope: 'admin', note: 'made by the first start' })).text);
  }
  reportPoolUse(metrics, store);
  reportSearchMemory(metrics, store);
  reportStandbys(metrics, store, log);
  if (!config.databaseUrl) reportDisk(metrics, config.dataFolder);
  for (const line of await describeOtherModels(store)) process.stderr.write(`${line}\n`);
  const analyzer = parts.use('analyzer', withMetrics(await createModelAnalyzers(config.analysis, models), metrics));
  const queue = parts.use('queue', createMemoryQueue());
  const downloads = config.downloads ?? { policy: { allowLoopback: true, allowPrivate: false } };
  const download = downloader(downloads, analyzer.files, config.analysis.limits);
  parts.use('analyzer worker', createAnalyzerWorker({ queue, analyzer, threads, download, log, metrics }));
  const indexer = parts.use('indexer', createIndexer({ store, queue, log, metrics }));
  const library = new ModelLibrary({ models, log, folder: config.models, mirror: config.mirror });
  parts.use('downloads of models', library);
  const { shutdownDelayMilliseconds = 0 } = config;
  await starting[Symbol.asyncDispose]();
  const gateway = parts.use(
    'gateway',
    await createGateway({
      store,
      log,
      metrics,
      ...listen,
      shutdownDelayMilliseconds,
      access: { ...access, fleetKey: key },
      corsOrigins: config.corsOrigins,
      legacySegment: config.legacySegment,
      webFolder: config.webFolder,
      version: akinVersion(),
      limits: { ...config.limits, shutdownMilliseconds: OPEN_REQUESTS_MILLISECONDS },
      commit: (collection) => indexer.commit(collection),
      wake: () => indexer.wake(),
      models: library,
      originals: originalsOf(config.dataFolder, analyzer),
      ...(config.retryRun ? { retryRun: config.retryRun } : {}),
      makeThumbnail: (bytes) => makeThumbnail(bytes, THUMBNAIL_LIMITS),
      analyze: analyzeSentOrFetched(analyzer, download),
    }),
    shutdownDelayMilliseconds,
  );
  // Other commands work without it.
  try {
    await openDataFolder(config.dataFolder, () => {});
    serverFile.markServing(gateway.url);
  } catch (err) {
    log.warn({ err }, 'other commands cannot find this akin by its data folder');
  }
  return { gateway, key, analyzer, models };
}

/** Adds the URL of the akin that uses the folder. */
async function servedError(error: unknown, { dataFolder }: ServeConfig): Promise<AkinError | undefined> {
  if (!(error instanceof AkinError) || error.code !== 'conflict') return undefined;
  const server = await runningServer(dataFolder);
  return server && new AkinError('conflict', `${error.message} It is at ${server.url}/.`, { cause: error });
}

export function listenError(error: unknown, { host, port }: Pick<ServeConfig, 'host' | 'port'>): AkinError | undefined {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'EADDRINUSE') {
    return new AkinError(
      'conflict',
      `Port ${port} is in use, perhaps by another akin. Choose another port with --port.`,
    );
  }
  if (code === 'EACCES')
    return new AkinError('forbidden', `Port ${port} needs special permissions. Choose another port with --port.`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return badRequest(`${host} is not an address of this machine. Choose another one with --host.`);
  }
  return undefined;
}
