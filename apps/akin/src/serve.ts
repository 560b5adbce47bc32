import { availableParallelism } from 'node:os';
import path from 'node:path';
import { createAnalyzerWorker } from '@akin/analyzer';
import { createGateway, type Gateway } from '@akin/gateway';
import { downloadImage } from '@akin/imaging';
import { createIndexer } from '@akin/indexer';
import { type Analyzer, createAnalyzer } from '@akin/modules/analyze';
import { MODULES } from '@akin/modules/manifests';
import { parseOutputs } from '@akin/modules/vectors';
import { createMemoryQueue } from '@akin/queue';
import { createLogger, createMetrics } from '@akin/runtime';
import { openStore } from '@akin/store';

export interface ServeConfig {
  /** Folder of the embedded database, the demo and the lock. */
  readonly dataFolder: string;
  /** PostgreSQL instead of the embedded database. */
  readonly databaseUrl?: string;
  readonly host: string;
  readonly port: number;
  readonly corsOrigins: readonly string[];
  readonly allowOpenNetwork: boolean;
  readonly legacySegment: string;
  readonly threads: number;
  readonly logLevel: string;
  readonly webFolder: string;
}

/** A running akin: everything in one process. Disposing stops taking requests, drains, and closes, last opened first. */
export interface Served extends AsyncDisposable {
  readonly gateway: Gateway;
  /** The worker threads, for work of this process beside requests. */
  readonly analyzer: Analyzer;
}

export const DEFAULT_THREADS = availableParallelism();

/**
 * Starts gateway, indexer and analyzer in this process on PGlite, or on PostgreSQL.
 *
 * @throws {AkinError} what the store, or a taken port, says; everything opened until then is closed again.
 */
export async function serve(config: ServeConfig): Promise<Served> {
  const opened: AsyncDisposable[] = [];
  try {
    return await open(config, opened);
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
}

async function closeAll(opened: AsyncDisposable[]): Promise<void> {
  for (const one of opened.reverse()) await one[Symbol.asyncDispose]();
}

async function open(config: ServeConfig, opened: AsyncDisposable[]): Promise<Served> {
  const keep = <T extends AsyncDisposable>(one: T): T => {
    opened.push(one);
    return one;
  };
  const log = createLogger({ name: 'akin', level: config.logLevel });
  const metrics = createMetrics();
  const store = keep(
    await openStore({
      modules: MODULES,
      parseOutputs,
      ...(config.databaseUrl
        ? { databaseUrl: config.databaseUrl }
        : { folder: path.join(config.dataFolder, 'database') }),
    }),
  );
  const analyzer = keep(await createAnalyzer({ threads: config.threads }));
  const queue = keep(createMemoryQueue());
  const download = (url: string, signal?: AbortSignal) =>
    downloadImage(url, { policy: { allowLoopback: true, allowPrivate: false }, ...(signal ? { signal } : {}) });
  keep(await createAnalyzerWorker({ queue, analyzer, download, threads: config.threads, log }));
  const indexer = keep(await createIndexer({ store, queue, log }));
  const gateway = keep(
    await createGateway({
      store,
      log,
      metrics,
      host: config.host,
      port: config.port,
      allowOpenNetwork: config.allowOpenNetwork,
      corsOrigins: config.corsOrigins,
      legacySegment: config.legacySegment,
      webFolder: config.webFolder,
      commit: (collection) => indexer.commit(collection),
      wake: () => indexer.wake(),
      analyze: async (input, modules, { urgent, signal }) => {
        const bytes = 'bytes' in input ? input.bytes : await download(input.url, signal);
        return analyzer.analyze(bytes, { modules, urgent, ...(signal ? { signal } : {}) });
      },
    }),
  );
  return { gateway, analyzer, [Symbol.asyncDispose]: () => closeAll(opened) };
}
