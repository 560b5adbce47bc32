import { fileURLToPath } from 'node:url';
import { type GatewayLimits, limitsForPictures } from '@akin/gateway';
import { defaultSearchMemory } from '@akin/store/search';
import { DATA_OPTION, databaseUrl, dataFolder } from '../data-option.ts';
import { chosenModel } from '../models/chosen-model.ts';
import { modelsFolder } from '../models/models-folder.ts';
import { type Option, type ParsedOptions, UsageError } from '../options.ts';
import type { BacklogLimits, ServeConfig } from '../serve.ts';
import { ANALYSIS_OPTIONS, analysisConfig, MEGABYTE, uploadBytes } from './analysis-options.ts';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

export const STORE_OPTIONS: readonly Option[] = [
  DATA_OPTION,
  {
    name: 'database-url',
    valueName: 'url',
    description: 'PostgreSQL 15 or newer with pgvector, instead of the embedded database',
    otherVariables: ['DATABASE_URL'],
  },
  ...ANALYSIS_OPTIONS,
  { name: 'log-level', valueName: 'level', description: LOG_LEVELS.join(', '), default: 'warn' },
];

export const CORS_OPTION: Option = {
  name: 'cors',
  valueName: 'origins',
  description: 'Origins whose pages may call akin, separated by commas; * allows any',
};

export const LEGACY_OPTION: Option = {
  name: 'legacy-segment',
  valueName: 'name',
  description: 'Path segment of the interface for Solr clients',
  default: 'solr',
};

/** Limits of the waiting work of each collection. Above them, changes get 429. */
export const WAITING_OPTIONS: readonly Option[] = [
  {
    name: 'max-waiting-analyses',
    valueName: 'n',
    description:
      'Maximum number of pictures of a collection that wait for analysis. Above it, changes with pictures get 429',
    default: '500000',
  },
  {
    name: 'max-waiting-changes',
    valueName: 'n',
    description: 'Maximum number of waiting changes of a collection. Above it, changes get 429',
    default: '2000000',
  },
];

export function waitingLimits(options: ParsedOptions): BacklogLimits {
  return {
    waitingAnalyses: options.number('max-waiting-analyses'),
    unappliedChanges: options.number('max-waiting-changes'),
  };
}

export const THROTTLE_OPTION: Option = {
  name: 'no-throttle',
  description: 'Let bulk work on PostgreSQL go on at full speed while there are searches',
};

const MIN_SEARCH_MEGABYTES = 16;

export const SEARCH_MEMORY_OPTION: Option = {
  name: 'search-memory',
  valueName: 'MB',
  description: 'Memory for the vectors of searched collections. If it is too small, the database compares every match',
  default: String(Math.floor(defaultSearchMemory() / MEGABYTE)),
};

/** @returns bytes @throws {UsageError} if it is too small */
export function searchMemory(options: ParsedOptions): number {
  const megabytes = options.number('search-memory');
  if (megabytes >= MIN_SEARCH_MEGABYTES) return megabytes * MEGABYTE;
  throw new UsageError(
    `--search-memory (or AKIN_SEARCH_MEMORY) must be at least ${MIN_SEARCH_MEGABYTES} (MB), not ${megabytes}.`,
  );
}

export const WEB_FOLDER = fileURLToPath(new URL('dist/', import.meta.resolve('@akin/web/package.json')));

export function embeddedConfig(options: ParsedOptions): ServeConfig {
  const url = databaseUrl(options);
  return {
    dataFolder: dataFolder(options),
    ...(url ? { databaseUrl: url } : {}),
    host: '127.0.0.1',
    port: 0,
    corsOrigins: [],
    allowOpenNetwork: false,
    legacySegment: 'solr',
    analysis: analysisConfig(options, chosenModel(dataFolder(options))),
    models: modelsFolder(options),
    logLevel: logLevelOf(options),
    webFolder: WEB_FOLDER,
  };
}

export function uploadLimits(options: ParsedOptions): Partial<GatewayLimits> {
  return limitsForPictures(uploadBytes(options));
}

function logLevelOf(options: ParsedOptions): string {
  const level = options.text('log-level') ?? 'warn';
  if (!LOG_LEVELS.includes(level)) throw new UsageError(`--log-level must be one of ${LOG_LEVELS.join(', ')}.`);
  return level;
}
