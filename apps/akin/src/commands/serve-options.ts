import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Option, type Parsed, UsageError } from '../options.ts';
import type { ServeConfig } from '../serve.ts';

/** Where akin keeps the embedded database unless told otherwise, below the folder that it is started in. */
const DEFAULT_DATA_FOLDER = 'akin-data';

const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'];

export const THREADS_OPTION: Option = {
  name: 'threads',
  value: 'n',
  about: 'Pictures analyzed at the same time',
  default: String(availableParallelism()),
};

/** Options of every command that opens a store by itself. */
export const STORE_OPTIONS: readonly Option[] = [
  {
    name: 'data',
    value: 'folder',
    about: 'Folder of the embedded database',
    default: DEFAULT_DATA_FOLDER,
  },
  {
    name: 'database-url',
    value: 'url',
    about: 'PostgreSQL 15 or newer with pgvector, instead of the embedded database',
    alsoFrom: ['DATABASE_URL'],
  },
  THREADS_OPTION,
  { name: 'log-level', value: 'level', about: LOG_LEVELS.join(', '), default: 'warn' },
];

export const CORS_OPTION: Option = {
  name: 'cors',
  value: 'origins',
  about: 'Origins whose pages may call akin, by comma; * for any',
};

export const LEGACY_OPTION: Option = {
  name: 'legacy-segment',
  value: 'name',
  about: 'Path segment of the interface that Solr clients know',
  default: 'solr',
};

export const WEB_FOLDER = fileURLToPath(new URL('dist/', import.meta.resolve('@akin/web/package.json')));

/** Where the embedded database of a data folder lies. */
export function databaseFolder(options: Parsed): string {
  return path.resolve(options.text('data') ?? DEFAULT_DATA_FOLDER, 'database');
}

/** What a command that serves to itself alone needs; `serve` adds its own options. */
export function embeddedConfig(options: Parsed): ServeConfig {
  const databaseUrl = options.text('database-url');
  return {
    dataFolder: path.resolve(options.text('data') ?? DEFAULT_DATA_FOLDER),
    ...(databaseUrl ? { databaseUrl } : {}),
    host: '127.0.0.1',
    port: 0,
    corsOrigins: [],
    allowOpenNetwork: false,
    legacySegment: 'solr',
    threads: threadsOf(options),
    logLevel: logLevelOf(options),
    webFolder: WEB_FOLDER,
  };
}

export function threadsOf(options: Parsed): number {
  return Math.max(1, options.number('threads'));
}

function logLevelOf(options: Parsed): string {
  const level = options.text('log-level') ?? 'warn';
  if (!LOG_LEVELS.includes(level)) throw new UsageError(`--log-level must be one of ${LOG_LEVELS.join(', ')}.`);
  return level;
}
