import { createIndexer } from '@akin/indexer';
import { activeModelSet } from '@akin/modules/vectors';
import { connectionName } from '@akin/runtime';
import { saveAnalyzers } from '@akin/store/database';
import { describeOtherModels } from '../describe-other-models.ts';
import type { ContentModels } from '../models/content-models.ts';
import { reportQueueUp } from '../process-metrics.ts';
import { notReady } from '../starting-server.ts';
import type { FleetProcess } from './fleet-process.ts';
import { openModelQueue } from './model-queue.ts';
import { openFleetStore } from './open-fleet-store.ts';
import { openQueue, type QueueServer } from './open-queue.ts';

export interface IndexerProcessConfig {
  readonly databaseUrl: string;
  readonly models: ContentModels;
  readonly queueServer: QueueServer;
  readonly autoCommitMilliseconds: number;
  readonly throttled: boolean;
  readonly searchMemory: number;
}

/** Interval at which the version of the job contract, and the analyzers, are announced. They count for a minute. */
const ANNOUNCE_MILLISECONDS = 15_000;

/**
 * Sends analyses to the queue, stores their results and commits. Each collection has one leader among the indexers;
 * another one takes over when it ends.
 */
export async function openIndexerProcess(
  { name, log, metrics, parts, retry, openServer, waitingFor }: FleetProcess,
  config: IndexerProcessConfig,
): Promise<string> {
  let check = async (): Promise<void> => {
    throw notReady(waitingFor() ?? 'The indexer is starting.');
  };
  const { url } = await openServer({ ready: () => check() });
  const { queueServer, autoCommitMilliseconds } = config;
  const store = await openFleetStore({ name, log, parts, retry, metrics }, config, config.models);
  for (const line of await describeOtherModels(store)) log.warn(line);
  const open = (contract: string) => openQueue(queueServer, { name: connectionName(name), contract, log });
  const queue = parts.use('queue', await retry(queueServer.name, () => openModelQueue(activeModelSet(), open)));
  reportQueueUp(metrics, queue, queueServer.name);
  const announce = async () => {
    await queue.announce();
    await saveAnalyzers(store, await queue.workers('analyze'));
  };
  await announce().catch(() => {});
  const announcing = setInterval(() => announce().catch(() => {}), ANNOUNCE_MILLISECONDS);
  parts.use('announcements', { [Symbol.asyncDispose]: async () => clearInterval(announcing) });
  parts.use('indexer', createIndexer({ store, queue, log, metrics, autoCommitMilliseconds }));
  check = async () => {
    await store.ping();
    await queue.counts('analyze').catch(() => {
      throw notReady(`${queueServer.name} does not answer: pictures wait in the database, everything else continues.`);
    });
  };
  return url;
}
