import {
  type AccessConfig,
  createGateway,
  DEFAULT_GATEWAY_LIMITS,
  type GatewayLimits,
  keyInstructions,
  requiresKeys,
} from '@akin/gateway';
import { makeThumbnail } from '@akin/imaging';
import { requestCommit, type Store } from '@akin/store/changes';
import { findCollection } from '@akin/store/database';
import { listKeys } from '@akin/store/search';
import type { ContentModels } from '../models/content-models.ts';
import { ModelLibrary } from '../models/model-library.ts';
import { type BacklogLimits, THUMBNAIL_LIMITS } from '../serve.ts';
import { answerWhileStarting, notReady } from '../starting-server.ts';
import { akinVersion } from '../version.ts';
import { analyzeRemotely } from './analyze-remotely.ts';
import type { FleetProcess } from './fleet-process.ts';
import { openFleetStore } from './open-fleet-store.ts';

export interface GatewayProcessConfig {
  readonly databaseUrl: string;
  readonly standbyUrls: readonly string[];
  readonly models: ContentModels;
  readonly analyzeUrls: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly legacySegment: string;
  readonly webFolder: string;
  readonly limits: BacklogLimits & Partial<GatewayLimits>;
  readonly access: AccessConfig;
  readonly fleetKey: string | undefined;
  readonly throttled: boolean;
  readonly searchMemory: number;
}

/** An analyzer on another machine would not have the model. */
const FLEET_REFUSAL = 'In a fleet, models are downloaded on each machine.';

/** The HTTP server of a fleet. It has no state: any number of them may run. */
export async function openGatewayProcess(
  { name, log, metrics, parts, listen, retry, serveUntilShutdown, waitingFor }: FleetProcess,
  config: GatewayProcessConfig,
): Promise<string> {
  const startupServer = await answerWhileStarting(
    { ...listen, shutdownDelayMilliseconds: 0, log, metrics },
    () => waitingFor() ?? 'The gateway is starting.',
  );
  const { port } = startupServer;
  const { corsOrigins, legacySegment, webFolder, limits, access } = config;
  let store: Store;
  try {
    store = await openFleetStore({ name, log, parts, retry, metrics }, config, config.models);
    await retry('a first key', async () => {
      if (!requiresKeys({ ...listen, access }) || (await listKeys(store)).length > 0) return;
      throw notReady(`This gateway requires keys, and none exists. ${keyInstructions(access)}`);
    });
  } finally {
    await startupServer[Symbol.asyncDispose]();
  }
  const gateway = await createGateway({
    store,
    log,
    metrics,
    corsOrigins,
    legacySegment,
    webFolder,
    limits,
    ...listen,
    access: { ...access, ...(config.fleetKey ? { metricsKey: config.fleetKey } : {}) },
    port,
    models: new ModelLibrary({
      models: config.models,
      log,
      folder: undefined,
      mirror: undefined,
      refusal: FLEET_REFUSAL,
    }),
    version: akinVersion(),
    makeThumbnail: (bytes) => makeThumbnail(bytes, THUMBNAIL_LIMITS),
    analyze: analyzeRemotely({ urls: config.analyzeUrls, fleetKey: config.fleetKey, log, metrics }),
    commit: async (name) => requestCommit(store, await findCollection(store, name)),
    // The store notifies the indexers of accepted changes.
    wake: () => {},
  });
  return serveUntilShutdown(gateway, DEFAULT_GATEWAY_LIMITS.shutdownMilliseconds).url;
}
