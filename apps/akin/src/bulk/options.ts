import { type Client, createClient } from '@akin/client';
import { type Option, type Parsed, UsageError } from '../options.ts';

/** Options of commands that talk to a running akin. */
export const SERVER_OPTIONS: readonly Option[] = [
  {
    name: 'url',
    value: 'url',
    about: 'The running akin',
    default: 'http://127.0.0.1:8983',
    alsoFrom: ['AKIN_SERVER'],
  },
  { name: 'key', value: 'key', about: 'Key for that akin; better by its environment variable' },
  { name: 'collection', value: 'name', about: 'The collection', default: 'my-collection' },
];

export interface Server {
  readonly client: Client;
  readonly url: string;
  readonly name: string;
}

/** @throws UsageError when the address is none, or nobody answers there */
export async function findServer(options: Parsed): Promise<Server> {
  const url = (options.text('url') ?? '').replace(/\/+$/, '');
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UsageError(`--url ${url} is no http address.`);
  const key = options.text('key');
  const client = createClient({ baseUrl: url, ...(key ? { key } : {}) });
  if (!(await client.isReady())) {
    throw new UsageError(`No akin answers at ${url}: start it with npx akin, or name another one with --url.`);
  }
  return { client, url, name: options.text('collection') ?? 'my-collection' };
}

/** Whether akin runs on this machine: compressing would take more time than sending. */
export function isLocal(url: string): boolean {
  return ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(url).hostname);
}
