import { createWorkerServer, type FindCandidates } from '@akin/gateway';
import { handleNodeRequest, readRequest, type Store, writeResponse } from '@akin/store';
import type { ContentModels } from '../models/content-models.ts';
import { type FleetProcess, notReady } from './fleet-process.ts';
import { openFleetStore } from './open-fleet-store.ts';

export interface SearchNodeConfig {
  readonly databaseUrl: string;
  /** Standbys of the database, from which vectors are read. */
  readonly standbyUrls: readonly string[];
  readonly models: ContentModels;
  /** The shards of each collection that it may keep. Undefined: all. */
  readonly shards: readonly number[] | undefined;
  /** As the store expects it. */
  readonly searchMemory: number;
}

/**
 * Keeps the vectors of some shards in memory, and finds candidates for searches of gateways. It answers no search
 * itself.
 */
export async function openSearchNode(fleet: FleetProcess, config: SearchNodeConfig): Promise<string> {
  const { name, log, metrics, parts, listen, retry, openServer, waitingFor } = fleet;
  // Answers even before the database does. The HTTP server is opened after the store, so that it closes before it.
  const startupServer = await createWorkerServer({
    ...listen,
    shutdownDelayMilliseconds: 0,
    log,
    metrics,
    ready: () => Promise.reject(notReady(waitingFor() ?? 'The search node is starting.')),
    findCandidates: () => Promise.reject(notReady('The search node is starting.')),
  });
  // It needs no outputs and thumbnails, and bulk work does not pause because of its statements.
  const settings = { ...config, objects: 'unread', searchSlowdown: 0 } as const;
  let store: Store;
  try {
    store = await openFleetStore({ name, log, parts, retry, metrics }, settings, config.models);
  } finally {
    await startupServer[Symbol.asyncDispose]();
  }
  const { url } = await openServer({
    ready: () => store.ping(),
    findCandidates: findCandidatesIn(() => store, config.shards),
  });
  log.info({ shards: config.shards ?? 'all' }, 'finds candidates for searches');
  return url;
}

/** Answers requests of gateways from the shards that a node may keep. Undefined: all. */
export function findCandidatesIn(store: () => Store, assignedShards: readonly number[] | undefined): FindCandidates {
  return async (text, { shards, ...options }) => {
    const own = assignedShards === undefined ? shards : shards.filter((shard) => assignedShards.includes(shard));
    const request = readRequest(text);
    if (own.length === 0) return writeResponse({ shards: [], assignedShards, candidates: undefined, counts: [] });
    return writeResponse({
      ...(await handleNodeRequest(store(), request, { ...options, shards: own })),
      assignedShards,
    });
  };
}
