import type { AccessConfig } from '@akin/gateway';
import type { DownloadPolicy } from '@akin/imaging';
import { doorAccess } from '../access-options.ts';
import { type Option, type Parsed, UsageError } from '../options.ts';
import type { QueueServer } from './open-queue.ts';

/** Where a process listens, as its door takes it. */
export interface ListenConfig {
  readonly host: string;
  readonly port: number;
  readonly allowOpenNetwork: boolean;
  /** For doors of processes that have no keys in a store. */
  readonly access: AccessConfig;
}

export const LOG_OPTION: Option = {
  name: 'log-level',
  value: 'level',
  about: 'debug, info, warn, error or silent',
  default: 'info',
};

/** @param port of the process when none is given */
export function listenOptions(port: number): readonly Option[] {
  return [
    {
      name: 'port',
      value: 'n',
      about: 'Port to listen on; 0 takes a free one',
      default: String(port),
      alsoFrom: ['PORT'],
    },
    { name: 'host', value: 'address', about: 'Address to listen on', default: '127.0.0.1' },
    { name: 'allow-open-network', about: 'Ask nobody for a key, though others than this machine can connect' },
  ];
}

export function listenConfig(options: Parsed): ListenConfig {
  return {
    host: options.text('host') ?? '127.0.0.1',
    port: options.number('port', 65_535),
    allowOpenNetwork: options.on('allow-open-network'),
    access: doorAccess(options),
  };
}

export const DATABASE_OPTION: Option = {
  name: 'database-url',
  value: 'url',
  about: 'PostgreSQL 15 or newer with pgvector: where everything is kept',
  alsoFrom: ['DATABASE_URL'],
};

export const REDIS_OPTIONS: readonly Option[] = [
  {
    name: 'redis-url',
    value: 'url',
    about: 'Redis with maxmemory-policy noeviction: hands analyses to analyzers; PostgreSQL does where it is not given',
    alsoFrom: ['REDIS_URL'],
  },
  {
    name: 'redis-prefix',
    value: 'text',
    about: 'Fleets that share a Redis or a PostgreSQL for their analyses each have their own',
    default: 'akin',
  },
];

/** What `akin serve` may be told; pictures of its own machine it downloads in any case. */
export const PRIVATE_IMAGES_OPTIONS: readonly Option[] = [
  { name: 'allow-private-images', about: 'Download pictures from private networks too' },
  { name: 'image-hosts', value: 'names', about: 'Hosts of pictures that may be private or this machine, by comma' },
];

export const IMAGES_OPTIONS: readonly Option[] = [
  { name: 'allow-loopback-images', about: 'Download pictures from this machine too' },
  ...PRIVATE_IMAGES_OPTIONS,
];

export function downloadPolicy(options: Parsed): DownloadPolicy {
  return {
    allowLoopback: options.on('allow-loopback-images'),
    allowPrivate: options.on('allow-private-images'),
    allowHosts: listed(options.text('image-hosts')),
  };
}

/** @throws {UsageError} naming the flag and the environment variable */
export function neededDatabase(options: Parsed): string {
  const value = databaseUrl(options);
  if (value !== undefined) return value;
  throw new UsageError('--database-url (or DATABASE_URL) must say where it is.');
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
    '--redis-url (or REDIS_URL) must say where analyses are handed over, or --database-url (or DATABASE_URL) where there is no Redis.',
  );
}

/** Texts between commas. */
export function listed(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}
