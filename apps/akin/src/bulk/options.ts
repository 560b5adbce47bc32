import { AkinRequestError, type Client, createClient } from '@akin/client';
import { DEFAULT_URL } from '../default-port.ts';
import { type Option, type Parsed, UsageError } from '../options.ts';

/** Options of commands that talk to a running akin. */
export const SERVER_OPTIONS: readonly Option[] = [
  {
    name: 'url',
    value: 'url',
    about: 'The running akin',
    default: DEFAULT_URL,
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

/** @throws UsageError when the address is none, or nobody answers there who is ready */
export async function findServer(options: Parsed): Promise<Server> {
  const url = (options.text('url') ?? '').replace(/\/+$/, '');
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new UsageError(`--url ${url} is no http address.`);
  const key = options.text('key');
  const client = createClient({ baseUrl: url, ...(key ? { key } : {}) });
  try {
    await client.ready();
  } catch (error) {
    if (!(error instanceof AkinRequestError)) throw error;
    throw new UsageError(
      error.status === 0
        ? `No akin answers at ${url}: start it with npx akin, or name another one with --url.`
        : `What answers at ${url} is not ready: ${error.message}`,
    );
  }
  return { client, url, name: options.text('collection') ?? 'my-collection' };
}

/** Whether akin runs on this machine: compressing would take more time than sending. */
export function isLocal(url: string): boolean {
  return ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(url).hostname);
}
