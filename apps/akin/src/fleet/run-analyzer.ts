import { createAnalyzerWorker, withMetrics } from '@akin/analyzer';
import { limitsForPictures } from '@akin/gateway';
import { DEFAULT_IMAGE_LIMITS, type DownloadSettings } from '@akin/imaging';
import type { Analyzer, AnalyzerConfig } from '@akin/modules/analyze';
import { moduleNames } from '@akin/modules/manifests';
import { activeModelSet, modelNames, modelSetText } from '@akin/modules/vectors';
import { connectionName } from '@akin/runtime';
import { analyzeSentOrFetched, type Download, downloader } from '../download.ts';
import type { ContentModels } from '../models/content-models.ts';
import { createModelAnalyzers } from '../models/model-analyzers.ts';
import { reportQueueUp } from '../process-metrics.ts';
import { notReady } from '../starting-server.ts';
import type { FleetProcess } from './fleet-process.ts';
import { modelMismatch } from './model-mismatch.ts';
import { openModelQueue } from './model-queue.ts';
import { openQueue, type QueueServer } from './open-queue.ts';

export interface AnalyzeNodeConfig {
  readonly analysis: AnalyzerConfig;
  readonly models: ContentModels;
  readonly downloads: DownloadSettings;
}

export interface AnalyzerProcessConfig extends AnalyzeNodeConfig {
  readonly queueServer: QueueServer;
}

/** Only analyzes pictures over HTTP: no database, no Redis. */
export async function openAnalyzeNode(fleet: FleetProcess, config: AnalyzeNodeConfig): Promise<string> {
  const { url } = await openAnalysis(fleet, config, async () => {});
  return url;
}

/** Takes analyses from the queue. Pictures of queries come over HTTP and have priority. */
export async function openAnalyzerProcess(fleet: FleetProcess, config: AnalyzerProcessConfig): Promise<string> {
  const { name, log, metrics, parts, retry, waitingFor } = fleet;
  const { queueServer } = config;
  const { threads } = config.analysis;
  const { models } = config;
  let check = async (): Promise<void> => {
    throw notReady(waitingFor() ?? 'The analyzer is starting.');
  };
  const { url, analyzer, download } = await openAnalysis(fleet, config, () => check());
  const contract = modelNames();
  const open = (contract: string) => openQueue(queueServer, { name: connectionName(name), contract, log });
  const modelSets = await models.all();
  const queue = parts.use(
    'queue',
    await retry(queueServer.name, () => openModelQueue(activeModelSet(), open, modelSets)),
  );
  reportQueueUp(metrics, queue, queueServer.name);
  parts.use('analyzer worker', createAnalyzerWorker({ queue, analyzer, threads, download, log, metrics }));
  const noWork = await modelMismatch(queue, contract, ...modelSets.map(modelSetText)).catch(() => undefined);
  if (noWork !== undefined) log.warn({ models: contract }, noWork);
  check = async () => {
    const reason = await modelMismatch(queue, contract, ...modelSets.map(modelSetText)).catch(
      () => `${queueServer.name} does not answer: analyses wait until it does.`,
    );
    if (reason !== undefined) throw notReady(reason);
  };
  return url;
}

async function openAnalysis(
  { parts, openServer, metrics, log }: FleetProcess,
  { analysis, models, downloads }: AnalyzeNodeConfig,
  ready: () => Promise<void>,
): Promise<{
  url: string;
  analyzer: Analyzer;
  download: Download;
}> {
  const analyzer = parts.use('analyzer', withMetrics(await createModelAnalyzers(analysis, models), metrics));
  await analyzer.warmUp(moduleNames);
  const { backend, backendReason } = analyzer;
  log.info({ backend, backendReason, models: modelNames() }, 'analyzes pictures');
  const download = downloader(downloads, analyzer.files, analysis.limits);
  const { url } = await openServer({
    ready,
    limits: limitsForPictures(analysis.limits?.bytes ?? DEFAULT_IMAGE_LIMITS.bytes),
    // It listens only after the worker threads have warmed up.
    httpReady: async () => {},
    analyze: analyzeSentOrFetched(analyzer, download),
  });
  return { url, analyzer, download };
}
