import { ACCESS_OPTIONS, accessConfig, FLEET_OPTIONS, WORKER_ACCESS_OPTIONS } from '../access-options.ts';
import { DEFAULT_PORT } from '../default-port.ts';
import {
  DATABASE_OPTION,
  LOG_OPTION,
  listenOptions,
  queueServer,
  REDIS_OPTIONS,
  requireDatabaseUrl,
  STANDBY_OPTION,
  splitList,
  standbyUrls,
} from '../fleet/options.ts';
import { httpAddress } from '../http-address.ts';
import { downloadSettings, IMAGES_OPTIONS } from '../images-options.ts';
import { ContentModels } from '../models/content-models.ts';
import { modelsFolder } from '../models/models-folder.ts';
import type { CommandModule } from '../program.ts';
import {
  ANALYSIS_OPTIONS,
  analysisConfig,
  CONTENT_MODEL_OPTIONS,
  contentModelOf,
  UPLOAD_OPTIONS,
} from './analysis-options.ts';
import {
  CORS_OPTION,
  LEGACY_OPTION,
  SEARCH_MEMORY_OPTION,
  searchMemory,
  THROTTLE_OPTION,
  uploadLimits,
  WAITING_OPTIONS,
  WEB_FOLDER,
  waitingLimits,
} from './serve-options.ts';

/** By then, load balancers that check every second have noticed. */
const SHUTDOWN_DELAY_SECONDS = 5;

export const gatewayCommand: CommandModule = {
  command: {
    name: 'gateway',
    usage: 'gateway',
    takesPositionals: false,
    description:
      'Answers the HTTP requests of a fleet. Needs PostgreSQL, and analyzers for query pictures. Runs no model.',
    options: [
      ...listenOptions(DEFAULT_PORT, SHUTDOWN_DELAY_SECONDS),
      DATABASE_OPTION,
      STANDBY_OPTION,
      {
        name: 'analyze-url',
        valueName: 'urls',
        description: 'Analyzers or analyze nodes for query pictures, separated by commas',
        default: 'http://127.0.0.1:8984',
        otherVariables: ['ANALYZE_URL'],
      },
      ...ACCESS_OPTIONS,
      ...FLEET_OPTIONS,
      ...CONTENT_MODEL_OPTIONS,
      ...UPLOAD_OPTIONS,
      ...WAITING_OPTIONS,
      THROTTLE_OPTION,
      SEARCH_MEMORY_OPTION,
      CORS_OPTION,
      LEGACY_OPTION,
      LOG_OPTION,
    ],
  },
  run: async (options, signal) => {
    const contentModel = contentModelOf(options);
    const config = {
      models: new ContentModels({ contentModel, models: modelsFolder(options) }),
      databaseUrl: requireDatabaseUrl(options),
      standbyUrls: standbyUrls(options),
      analyzeUrls: splitList(options.text('analyze-url')).map((url) => httpAddress('analyze-url', url)),
      corsOrigins: splitList(options.text('cors')),
      legacySegment: options.text('legacy-segment') ?? 'solr',
      webFolder: WEB_FOLDER,
      limits: { ...uploadLimits(options), ...waitingLimits(options) },
      access: accessConfig(options),
      fleetKey: options.text('fleet-key'),
      throttled: !options.isOn('no-throttle'),
      searchMemory: searchMemory(options),
    };
    const { runFleetProcess } = await import('../fleet/fleet-process.ts');
    const { openGatewayProcess } = await import('../fleet/run-gateway.ts');
    return runFleetProcess('gateway', options, signal, (fleet) => openGatewayProcess(fleet, config));
  },
};

export const indexerCommand: CommandModule = {
  command: {
    name: 'indexer',
    usage: 'indexer',
    takesPositionals: false,
    description:
      'Queues analyses, stores their results and commits. Needs PostgreSQL, and Redis if the analyzers use it. If several run, each collection has one leader among them.',
    options: [
      ...listenOptions(8985),
      DATABASE_OPTION,
      ...REDIS_OPTIONS,
      {
        name: 'auto-commit',
        valueName: 'ms',
        description: 'Time between automatic commits',
        default: '15000',
      },
      ...WORKER_ACCESS_OPTIONS,
      ...CONTENT_MODEL_OPTIONS,
      THROTTLE_OPTION,
      {
        ...SEARCH_MEMORY_OPTION,
        description:
          'Memory for the vectors that find groups of near-duplicates. If it is too small, the database finds them',
      },
      LOG_OPTION,
    ],
  },
  run: async (options, signal) => {
    const contentModel = contentModelOf(options);
    const config = {
      models: new ContentModels({ contentModel, models: modelsFolder(options) }),
      databaseUrl: requireDatabaseUrl(options),
      queueServer: queueServer(options),
      autoCommitMilliseconds: Math.max(100, options.number('auto-commit')),
      throttled: !options.isOn('no-throttle'),
      searchMemory: searchMemory(options),
    };
    const { runFleetProcess } = await import('../fleet/fleet-process.ts');
    const { openIndexerProcess } = await import('../fleet/run-indexer.ts');
    return runFleetProcess('indexer', options, signal, (fleet) => openIndexerProcess(fleet, config));
  },
};

export const analyzerCommand: CommandModule = {
  command: {
    name: 'analyzer',
    usage: 'analyzer',
    takesPositionals: false,
    description:
      'Analyzes pictures from the queue, and query pictures over HTTP. Needs Redis, or PostgreSQL if there is no Redis.',
    options: [
      ...listenOptions(8984, SHUTDOWN_DELAY_SECONDS),
      ...REDIS_OPTIONS,
      ...WORKER_ACCESS_OPTIONS,
      { ...DATABASE_OPTION, description: 'PostgreSQL: the queue of analyses if there is no Redis' },
      ...ANALYSIS_OPTIONS,
      ...IMAGES_OPTIONS,
      LOG_OPTION,
    ],
  },
  run: async (options, signal) => {
    const analysis = analysisConfig(options);
    const config = {
      queueServer: queueServer(options),
      analysis,
      models: new ContentModels({ contentModel: analysis.contentModel, models: modelsFolder(options) }),
      downloads: downloadSettings(options),
    };
    const { runFleetProcess } = await import('../fleet/fleet-process.ts');
    const { openAnalyzerProcess } = await import('../fleet/run-analyzer.ts');
    return runFleetProcess('analyzer', options, signal, (fleet) => openAnalyzerProcess(fleet, config));
  },
};

export const analyzeNodeCommand: CommandModule = {
  command: {
    name: 'analyze-node',
    usage: 'analyze-node',
    takesPositionals: false,
    description: 'Only analyzes pictures over HTTP, at /api/cores/{any}/analyze. Needs no database and no Redis.',
    options: [
      ...listenOptions(8984, SHUTDOWN_DELAY_SECONDS),
      ...WORKER_ACCESS_OPTIONS,
      ...ANALYSIS_OPTIONS,
      ...IMAGES_OPTIONS,
      LOG_OPTION,
    ],
  },
  run: async (options, signal) => {
    const analysis = analysisConfig(options);
    const models = new ContentModels({ contentModel: analysis.contentModel, models: modelsFolder(options) });
    const config = { analysis, models, downloads: downloadSettings(options) };
    const { runFleetProcess } = await import('../fleet/fleet-process.ts');
    const { openAnalyzeNode } = await import('../fleet/run-analyzer.ts');
    return runFleetProcess('analyze-node', options, signal, (fleet) => openAnalyzeNode(fleet, config));
  },
};
