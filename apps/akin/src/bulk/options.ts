import { AkinRequestError, type Client, createClient } from '@akin/client';
import { DATA_OPTION, dataFolder } from '../data-option.ts';
import { DEFAULT_URL } from '../default-port.ts';
import { httpAddress } from '../http-address.ts';
import { type Option, type ParsedOptions, UsageError } from '../options.ts';
import { runningServer } from '../server-file.ts';

export const SERVER_OPTIONS: readonly Option[] = [
  {
    name: 'url',
    valueName: 'url',
    description: `URL of the running akin. Default: the akin that serves from the data folder, else ${DEFAULT_URL}`,
    otherVariables: ['AKIN_SERVER'],
  },
  { ...DATA_OPTION, description: 'Data folder of the akin on this machine' },
  { name: 'key', valueName: 'key', description: 'Key to send to akin. The environment variable is safer' },
  { name: 'collection', valueName: 'name', description: 'Name of the collection', default: 'my-collection' },
];

/** @param seconds the default */
export function outageOption(seconds: number): Option {
  return {
    name: 'max-outage',
    valueName: 'seconds',
    description: 'Give up if akin does not answer for this long',
    default: String(seconds),
  };
}

export interface Server {
  readonly client: Client;
  readonly url: string;
  readonly name: string;
}

/** Whether the command itself names a store: then another akin must not get its documents. */
export function isStoreNamed(options: ParsedOptions): boolean {
  return options.isGiven('data') || options.isGiven('database-url');
}

/**
 * The URL of the akin to talk to, if one is given. A URL in the environment counts less than a store that the command
 * itself names.
 */
export function givenUrl(options: ParsedOptions): string | undefined {
  return isStoreNamed(options) && !options.isGiven('url') ? undefined : options.text('url');
}

/** @throws UsageError if the address is invalid, or no akin there is ready */
export async function findServer(options: ParsedOptions): Promise<Server> {
  return { ...(await findAkin(options)), name: options.text('collection') ?? 'my-collection' };
}

/** The same for commands that are not about a single collection. */
export async function findAkin(options: ParsedOptions): Promise<Omit<Server, 'name'>> {
  const named = givenUrl(options);
  const folder = dataFolder(options);
  const served = named === undefined ? (await runningServer(folder))?.url : httpAddress('url', named);
  if (served === undefined && isStoreNamed(options)) {
    throw new UsageError(
      `No akin serves from ${folder}: start it with npx akin-search serve --data, or give the URL of another one with --url.`,
    );
  }
  const url = served ?? DEFAULT_URL;
  const key = options.text('key');
  const client = createClient({ baseUrl: url, retries: 0, fetch: fetchWithoutRedirects, ...(key ? { key } : {}) });
  if (!(await isReady(client, url))) {
    throw new UsageError(
      `${named === undefined ? `No akin serves from ${folder}, and none` : 'No akin'} answers at ${url}: start it with npx akin-search, or give another URL with --url.`,
    );
  }
  return { client, url };
}

/** As `fetch`, but says where a redirect leads to: Node 20 follows none with a body. */
const fetchWithoutRedirects: typeof fetch = async (input, init) => {
  const response = await fetch(input, { ...init, redirect: 'manual' });
  const { status, headers } = response;
  const location = status >= 300 && status < 400 ? headers.get('location') : null;
  if (location === null) return response;
  await response.body?.cancel();
  const msg = `It redirects to ${location}: give the URL of akin there with --url.`;
  return Response.json({ error: { msg } }, { status });
};

/**
 * Whether akin is ready; false if nothing answers.
 * @throws UsageError that says why it is not ready, if it answers
 */
export async function isReady(client: Client, url: string): Promise<boolean> {
  try {
    await client.ready();
    return true;
  } catch (error) {
    if (!(error instanceof AkinRequestError)) throw error;
    if (error.status === 0) return false;
    throw new UsageError(`The server at ${url} is not ready: ${error.message}`);
  }
}

/** Whether akin runs on this machine. Then compression would take longer than sending. */
export function isLocal(url: string): boolean {
  return ['127.0.0.1', '[::1]', 'localhost'].includes(new URL(url).hostname);
}
