import { ACCESS_OPTIONS, accessConfig, DOOR_OPTIONS, FLEET_OPTIONS } from '../access-options.ts';
import { DEFAULT_PORT } from '../default-port.ts';
import { runFleetProcess } from '../fleet/fleet-process.ts';
import {
  DATABASE_OPTION,
  downloadPolicy,
  IMAGES_OPTIONS,
  LOG_OPTION,
  listed,
  listenOptions,
  neededDatabase,
  queueServer,
  REDIS_OPTIONS,
} from '../fleet/options.ts';
import { openAnalyzeNode, openAnalyzerProcess } from '../fleet/run-analyzer.ts';
import { openGatewayProcess } from '../fleet/run-gateway.ts';
import { openIndexerProcess } from '../fleet/run-indexer.ts';
import type { Program } from '../main.ts';
import {
  ANALYSIS_OPTIONS,
  analysisConfig,
  CONTENT_MODEL_OPTION,
  CORS_OPTION,
  contentModelOf,
  HOSTS_OPTION,
  LEGACY_OPTION,
  SLOWDOWN_OPTION,
  searchSlowdown,
  WAITING_OPTIONS,
  WEB_FOLDER,
  waitingLimits,
} from './serve-options.ts';

export const gatewayCommand: Program = {
  command: {
    name: 'gateway',
    usage: 'gateway',
    about: 'The HTTP door of a fleet: needs PostgreSQL, and analyzers for pictures of queries. Runs no model.',
    options: [
      ...listenOptions(DEFAULT_PORT),
      DATABASE_OPTION,
      {
        name: 'analyze-url',
        value: 'urls',
        about: 'Analyzers or analyze nodes for pictures of queries, by comma',
        default: 'http://127.0.0.1:8984',
        alsoFrom: ['ANALYZE_URL'],
      },
      HOSTS_OPTION,
      ...ACCESS_OPTIONS,
      ...FLEET_OPTIONS,
      CONTENT_MODEL_OPTION,
      ...WAITING_OPTIONS,
      SLOWDOWN_OPTION,
      CORS_OPTION,
      LEGACY_OPTION,
      LOG_OPTION,
    ],
  },
  run: (options, signal) => {
    contentModelOf(options);
    const config = {
      databaseUrl: neededDatabase(options),
      analyzeUrls: listed(options.text('analyze-url')),
      corsOrigins: listed(options.text('cors')),
      allowedHosts: listed(options.text('allowed-hosts')),
      legacySegment: options.text('legacy-segment') ?? 'solr',
      webFolder: WEB_FOLDER,
      limits: waitingLimits(options),
      access: accessConfig(options),
      fleetKey: options.text('fleet-key'),
      searchSlowdown: searchSlowdown(options),
    };
    return runFleetProcess('gateway', options, signal, (fleet) => openGatewayProcess(fleet, config));
  },
};

export const indexerCommand: Program = {
  command: {
    name: 'indexer',
    usage: 'indexer',
    about:
      'Hands out analyses, keeps their results and commits: needs PostgreSQL, and Redis if the analyzers use it. Of several, one leads each collection.',
    options: [
      ...listenOptions(8985),
      DATABASE_OPTION,
      ...REDIS_OPTIONS,
      {
        name: 'auto-commit',
        value: 'ms',
        about: 'How often what is ready becomes visible by itself',
        default: '15000',
      },
      ...DOOR_OPTIONS,
      CONTENT_MODEL_OPTION,
      SLOWDOWN_OPTION,
      LOG_OPTION,
    ],
  },
  run: (options, signal) => {
    contentModelOf(options);
    const config = {
      databaseUrl: neededDatabase(options),
      queueServer: queueServer(options),
      autoCommitMilliseconds: Math.max(100, options.number('auto-commit')),
      searchSlowdown: searchSlowdown(options),
    };
    return runFleetProcess('indexer', options, signal, (fleet) => openIndexerProcess(fleet, config));
  },
};

export const analyzerCommand: Program = {
  command: {
    name: 'analyzer',
    usage: 'analyzer',
    about:
      'Analyzes pictures out of the queue, and those of queries over HTTP: needs Redis, or PostgreSQL where there is none.',
    options: [
      ...listenOptions(8984),
      ...REDIS_OPTIONS,
      ...DOOR_OPTIONS,
      { ...DATABASE_OPTION, about: 'PostgreSQL, where analyses are handed over if there is no Redis' },
      ...ANALYSIS_OPTIONS,
      ...IMAGES_OPTIONS,
      LOG_OPTION,
    ],
  },
  run: (options, signal) => {
    const config = {
      queueServer: queueServer(options),
      analysis: analysisConfig(options),
      policy: downloadPolicy(options),
    };
    return runFleetProcess('analyzer', options, signal, (fleet) => openAnalyzerProcess(fleet, config));
  },
};

export const analyzeNodeCommand: Program = {
  command: {
    name: 'analyze-node',
    usage: 'analyze-node',
    about: 'Analyzes pictures over HTTP at /api/cores/{any}/analyze, and nothing else: no database, no Redis.',
    options: [...listenOptions(8984), ...DOOR_OPTIONS, ...ANALYSIS_OPTIONS, ...IMAGES_OPTIONS, LOG_OPTION],
  },
  run: (options, signal) => {
    const config = { analysis: analysisConfig(options), policy: downloadPolicy(options) };
    return runFleetProcess('analyze-node', options, signal, (fleet) => openAnalyzeNode(fleet, config));
  },
};
