import type { AccessConfig } from '@akin/gateway';
import type { DownloadPolicy } from '@akin/imaging';
import { workerAccess } from '../access-options.ts';
import { type Option, type Parsed, UsageError } from '../options.ts';
import type { QueueServer } from './open-queue.ts';

/** Where a process listens, as its HTTP server takes it. */
export interface ListenConfig {
  readonly host: string;
  readonly port: number;
  readonly allowOpenNetwork: boolean;
  readonly allowedHosts: readonly string[];
  /** How long it keeps serving at the end, while it says that it is not ready. */
  readonly shutdownDelayMilliseconds: number;
  /** For processes that have no keys in a store. */
  readonly access: AccessConfig;
}

export const LOG_OPTION: Option = {
  name: 'log-level',
  value: 'level',
  about: 'debug, info, warn, error or silent',
  default: 'info',
};

export const HOSTS_OPTION: Option = {
  name: 'allowed-hosts',
  value: 'names',
  about:
    'Host names to accept, separated by commas. akin always accepts localhost; with --allow-open-network also IP addresses; where it asks for keys, any name',
};

/** Options of the HTTP server of a process, with its port and its delay in seconds when none are given. */
export function listenOptions(port: number, delay = 0): readonly Option[] {
  return [
    {
      name: 'port',
      value: 'n',
      about: 'Port to listen on; 0 takes a free one',
      default: String(port),
      alsoFrom: ['PORT'],
    },
    { name: 'host', value: 'address', about: 'Address to listen on', default: '127.0.0.1' },
    { name: 'allow-open-network', about: 'Need no key although other machines can connect' },
    HOSTS_OPTION,
    shutdownDelayOption(delay),
  ];
}

/** @param seconds when none are given */
export function shutdownDelayOption(seconds: number): Option {
  return {
    name: 'shutdown-delay',
    value: 'seconds',
    about: 'When stopping, keep serving for this long while /health/ready says 503, so that load balancers notice',
    default: String(seconds),
  };
}

export function shutdownDelayMilliseconds(options: Parsed): number {
  return options.number('shutdown-delay', 300) * 1_000;
}

export function listenConfig(options: Parsed): ListenConfig {
  return {
    host: options.text('host') ?? '127.0.0.1',
    port: options.number('port', 65_535),
    allowOpenNetwork: options.on('allow-open-network'),
    allowedHosts: listed(options.text('allowed-hosts')),
    shutdownDelayMilliseconds: shutdownDelayMilliseconds(options),
    access: workerAccess(options),
  };
}

export const DATABASE_OPTION: Option = {
  name: 'database-url',
  value: 'url',
  about: 'PostgreSQL 15 or newer with pgvector, which keeps everything',
  alsoFrom: ['DATABASE_URL'],
};

export const STANDBY_OPTION: Option = {
  name: 'search-database-url',
  value: 'urls',
  about:
    'Standbys of that PostgreSQL, separated by commas, which searches are read from where they have what they need',
  alsoFrom: ['SEARCH_DATABASE_URL'],
};

export const REDIS_OPTIONS: readonly Option[] = [
  {
    name: 'redis-url',
    value: 'url',
    about: 'Redis with maxmemory-policy noeviction, the queue of analyses; without it PostgreSQL is the queue',
    alsoFrom: ['REDIS_URL'],
  },
  {
    name: 'redis-prefix',
    value: 'text',
    about: 'Name of this fleet in a Redis or PostgreSQL that several fleets share',
    default: 'akin',
  },
];

/** Options of every process that downloads pictures. */
export const IMAGES_OPTIONS: readonly Option[] = [
  {
    name: 'allow-loopback-images',
    about: 'Download pictures from this machine too; akin serve does so if only this machine can connect',
  },
  { name: 'allow-private-images', about: 'Download pictures from private networks too' },
  {
    name: 'image-hosts',
    value: 'names',
    about: 'Hosts, separated by commas, to download from even if they are private or this machine',
  },
];

/** @param ownMachine whether pictures of this machine are downloaded if the switch was not given */
export function downloadPolicy(options: Parsed, ownMachine = false): DownloadPolicy {
  return {
    allowLoopback: options.on('allow-loopback-images', ownMachine),
    allowPrivate: options.on('allow-private-images'),
    allowHosts: listed(options.text('image-hosts')),
  };
}

/** @throws {UsageError} naming the flag and the environment variable */
export function neededDatabase(options: Parsed): string {
  const value = databaseUrl(options);
  if (value !== undefined) return value;
  throw new UsageError('--database-url (or DATABASE_URL) must name the database.');
}

/** @throws {UsageError} for what is no list of addresses of PostgreSQL, not with its value, which may hold passwords */
export function standbyUrls(options: Parsed): string[] {
  const urls = listed(options.text('search-database-url'));
  if (urls.every((url) => /^postgres(ql)?:\/\//.test(url))) return urls;
  throw new UsageError(
    '--search-database-url (or SEARCH_DATABASE_URL) must be URLs that begin with postgres:// or postgresql://, separated by commas.',
  );
}

/** @throws {UsageError} for what is no address of a PostgreSQL */
function databaseUrl(options: Parsed): string | undefined {
  return options.server('database-url', 'postgres', 'postgresql');
}

/**
 * Where analyses are handed over.
 * @throws {UsageError} naming both flags when neither is given
 */
export function queueServer(options: Parsed): QueueServer {
  const prefix = options.text('redis-prefix') ?? 'akin';
  const redis = options.server('redis-url', 'redis', 'rediss');
  if (redis !== undefined) return { name: 'Redis', url: redis, prefix };
  const postgres = databaseUrl(options);
  if (postgres !== undefined) return { name: 'PostgreSQL', url: postgres, prefix };
  throw new UsageError(
    '--redis-url (or REDIS_URL) must name the Redis of the queue, or --database-url (or DATABASE_URL) the PostgreSQL if there is no Redis.',
  );
}

/** Texts between commas. */
export function listed(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}
