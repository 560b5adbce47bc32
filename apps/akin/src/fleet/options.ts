import type { AccessConfig } from '@akin/gateway';
import { workerAccess } from '../access-options.ts';
import { type Option, type ParsedOptions, UsageError } from '../options.ts';
import type { QueueServer } from './open-queue.ts';

export interface ListenConfig {
  readonly host: string;
  readonly port: number;
  readonly allowOpenNetwork: boolean;
  readonly allowedHosts: readonly string[];
  /** How long it keeps serving at the end, while `/health/ready` answers 503. */
  readonly shutdownDelayMilliseconds: number;
  readonly access: AccessConfig;
}

export const LOG_OPTION: Option = {
  name: 'log-level',
  valueName: 'level',
  description: 'debug, info, warn, error or silent',
  default: 'info',
};

export const HOSTS_OPTION: Option = {
  name: 'allowed-hosts',
  valueName: 'names',
  description:
    'Host names to accept, separated by commas. akin always accepts localhost; with --allow-open-network also IP addresses; if keys are required, any name',
};

export function listenOptions(port: number, delay = 0): readonly Option[] {
  return [
    {
      name: 'port',
      valueName: 'n',
      description: 'Port to listen on; 0 chooses a free port',
      default: String(port),
      otherVariables: ['PORT'],
    },
    { name: 'host', valueName: 'address', description: 'Address to listen on', default: '127.0.0.1' },
    { name: 'allow-open-network', description: 'Require no key from other machines' },
    HOSTS_OPTION,
    shutdownDelayOption(delay),
  ];
}

export function shutdownDelayOption(seconds: number): Option {
  return {
    name: 'shutdown-delay',
    valueName: 'seconds',
    description:
      'After a signal to stop, keep serving for this long while /health/ready answers 503, so that load balancers notice',
    default: String(seconds),
  };
}

export function shutdownDelayMilliseconds(options: ParsedOptions): number {
  return options.number('shutdown-delay', 300) * 1_000;
}

export function listenConfig(options: ParsedOptions): ListenConfig {
  return {
    host: options.text('host') ?? '127.0.0.1',
    port: options.number('port', 65_535),
    allowOpenNetwork: options.isOn('allow-open-network'),
    allowedHosts: splitList(options.text('allowed-hosts')),
    shutdownDelayMilliseconds: shutdownDelayMilliseconds(options),
    access: workerAccess(options),
  };
}

export const DATABASE_OPTION: Option = {
  name: 'database-url',
  valueName: 'url',
  description: 'PostgreSQL 15 or newer with pgvector, which stores everything',
  otherVariables: ['DATABASE_URL'],
};

export const STANDBY_OPTION: Option = {
  name: 'search-database-url',
  valueName: 'urls',
  description:
    'Standbys of that PostgreSQL, separated by commas. Searches are read from them if they are current enough',
  otherVariables: ['SEARCH_DATABASE_URL'],
};

export const REDIS_OPTIONS: readonly Option[] = [
  {
    name: 'redis-url',
    valueName: 'url',
    description:
      'Redis with maxmemory-policy noeviction, for the queue of analyses. Default: the queue is on PostgreSQL',
    otherVariables: ['REDIS_URL'],
  },
  {
    name: 'redis-prefix',
    valueName: 'text',
    description: 'Name of this fleet in a Redis or PostgreSQL that several fleets share',
    default: 'akin',
  },
];

/** @throws {UsageError} naming the flag and the environment variable */
export function requireDatabaseUrl(options: ParsedOptions): string {
  const value = databaseUrl(options);
  if (value !== undefined) return value;
  throw new UsageError('--database-url (or DATABASE_URL) must name the database.');
}

/**
 * @throws {UsageError} if it is not a list of PostgreSQL URLs. The message does not contain the value, which may
 * contain passwords.
 */
export function standbyUrls(options: ParsedOptions): string[] {
  const urls = splitList(options.text('search-database-url'));
  if (urls.every((url) => /^postgres(ql)?:\/\//.test(url))) return urls;
  throw new UsageError(
    '--search-database-url (or SEARCH_DATABASE_URL) must be URLs that begin with postgres:// or postgresql://, separated by commas.',
  );
}

/** @throws {UsageError} if it is not a PostgreSQL URL */
function databaseUrl(options: ParsedOptions): string | undefined {
  return options.serverUrl('database-url', 'postgres', 'postgresql');
}

/** @throws {UsageError} naming both flags if neither is given */
export function queueServer(options: ParsedOptions): QueueServer {
  const prefix = options.text('redis-prefix') ?? 'akin';
  const redis = options.serverUrl('redis-url', 'redis', 'rediss');
  if (redis !== undefined) return { name: 'Redis', url: redis, prefix };
  const postgres = databaseUrl(options);
  if (postgres !== undefined) return { name: 'PostgreSQL', url: postgres, prefix };
  throw new UsageError(
    '--redis-url (or REDIS_URL) must name the Redis of the queue, or --database-url (or DATABASE_URL) the PostgreSQL if there is no Redis.',
  );
}

export function splitList(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}
