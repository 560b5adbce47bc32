import type { DownloadPolicy } from '@akin/imaging';
import { type Option, type Parsed, UsageError } from '../options.ts';

/** Where a process listens, as its door takes it. */
export interface ListenConfig {
  readonly host: string;
  readonly port: number;
  readonly allowOpenNetwork: boolean;
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
    { name: 'allow-open-network', about: 'Listen beyond this machine although there are no keys' },
  ];
}

export function listenConfig(options: Parsed): ListenConfig {
  return {
    host: options.text('host') ?? '127.0.0.1',
    port: options.number('port', 65_535),
    allowOpenNetwork: options.on('allow-open-network'),
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
    about: 'Redis with maxmemory-policy noeviction: hands analyses to analyzers',
    alsoFrom: ['REDIS_URL'],
  },
  {
    name: 'redis-prefix',
    value: 'text',
    about: 'Fleets that share a Redis each have their own',
    default: 'akin',
  },
];

export const IMAGES_OPTIONS: readonly Option[] = [
  { name: 'allow-loopback-images', about: 'Download pictures from this machine too' },
  { name: 'allow-private-images', about: 'Download pictures from private networks too' },
  { name: 'image-hosts', value: 'names', about: 'Hosts of pictures that may be private or this machine, by comma' },
];

export function downloadPolicy(options: Parsed): DownloadPolicy {
  return {
    allowLoopback: options.on('allow-loopback-images'),
    allowPrivate: options.on('allow-private-images'),
    allowHosts: listed(options.text('image-hosts')),
  };
}

/** @throws {UsageError} naming the flag and the environment variable */
export function needed(options: Parsed, name: 'database-url' | 'redis-url' | 'analyze-url'): string {
  const value = options.text(name);
  if (value !== undefined) return value;
  throw new UsageError(`--${name} (or ${name.toUpperCase().replace('-', '_')}) must say where it is.`);
}

/** Texts between commas. */
export function listed(text: string | undefined): string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}
