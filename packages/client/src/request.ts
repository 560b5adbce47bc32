import { AkinRequestError, createRequestError } from './errors.ts';
import { type Plain, parseResponse } from './json.ts';

export interface ClientConfig {
  /** URL of akin, such as `http://127.0.0.1:8983`. Empty: the origin of the web page. */
  readonly baseUrl: string;
  /** Sent as `Authorization: Bearer`. */
  readonly key?: string;
  /** Path segment of the Solr-compatible commands. Default: `solr`. */
  readonly legacySegment?: string;
  /**
   * How often a request is repeated after 429, or after 503 if it changes nothing. The client waits for the time in the
   * response, but does not repeat if that is more than a minute. Default: 2.
   */
  readonly retries?: number;
  /** Sends requests instead of the global `fetch`. */
  readonly fetch?: typeof fetch;
}

const DEFAULT_RETRIES = 2;
const LONGEST_WAIT_SECONDS = 60;

export interface RequestOptions {
  method?: string;
  body?: string | URLSearchParams | Uint8Array | FormData;
  contentType?: string;
  /** Set if the body is compressed. */
  contentEncoding?: 'gzip';
  /** True if the request changes data: akin may have accepted it although it answers 503. */
  changes?: boolean;
  signal?: AbortSignal;
}

export type Parameters = Record<string, string | number | boolean | readonly string[] | undefined>;

/** Builds a query string: arrays repeat the name, undefined values are omitted. */
export function queryString(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) query.append(name, String(one));
    }
  }
  return query;
}

/**
 * Sends one request, again if `retries` says so, and parses the response. Null if a response of status 2xx is not JSON.
 *
 * @throws {AkinRequestError} for every status other than 2xx, and if there is no response.
 */
export async function request<T>(config: ClientConfig, path: string, options: RequestOptions = {}): Promise<T> {
  return readBody((await requestText(config, path, options)).text) as T;
}

/** As `request`, for a response that is not JSON. */
export async function requestText(
  config: ClientConfig,
  path: string,
  options: RequestOptions = {},
): Promise<{ text: string; headers: Headers }> {
  for (let left = config.retries ?? DEFAULT_RETRIES; ; left -= 1) {
    const { response, text } = await exchange(config, path, options, async (response) => ({
      response,
      text: await response.text(),
    }));
    if (response.ok) return { text, headers: response.headers };
    const error = responseError(response, text);
    const seconds = error.retryAfterSeconds;
    const again = error.status === 429 || (error.status === 503 && !options.changes);
    if (left <= 0 || !again || seconds === undefined || seconds > LONGEST_WAIT_SECONDS) throw error;
    await wait(seconds * 1_000, options.signal);
  }
}

/** @throws the reason of the signal, when it aborts */
export function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Returns the response body as a stream of bytes. @throws {AkinRequestError} as `request` */
export async function openStream(
  config: ClientConfig,
  path: string,
  signal: AbortSignal,
  method: 'GET' | 'POST' = 'GET',
): Promise<ReadableStream<Uint8Array>> {
  return exchange(config, path, { method, signal }, async (response) => {
    if (!response.ok || response.body === null) throw responseError(response, await response.text());
    return response.body;
  });
}

async function exchange<T>(
  config: ClientConfig,
  path: string,
  options: RequestOptions,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const headers: Record<string, string> = {};
  if (config.key) headers.authorization = `Bearer ${config.key}`;
  if (options.contentType) headers['content-type'] = options.contentType;
  if (options.contentEncoding) headers['content-encoding'] = options.contentEncoding;
  const method = options.method ?? (options.body === undefined ? 'GET' : 'POST');
  const send = () =>
    (config.fetch ?? fetch)(`${config.baseUrl}${path}`, {
      method,
      headers,
      // Not `Uint8Array<ArrayBuffer>` in the types of this package: TypeScript knows that only from 5.7.
      ...(options.body === undefined ? {} : { body: options.body as NonNullable<RequestInit['body']> }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  try {
    const response = await send().catch((cause) => {
      if (method !== 'GET' || !isClosed(cause)) throw cause;
      return send();
    });
    return await read(response);
  } catch (cause) {
    if (options.signal?.aborted || cause instanceof AkinRequestError) throw cause;
    throw createRequestError(0, `No response from ${config.baseUrl || 'akin'}: is it running? (${describe(cause)})`);
  }
}

function responseError(response: Response, text: string): AkinRequestError {
  const error = (readBody(text) as { error?: { msg?: string; details?: Plain[] } } | null)?.error;
  const retryAfter = Number(response.headers.get('retry-after'));
  return createRequestError(
    response.status,
    error?.msg ?? `akin answered ${response.status} ${response.statusText}`,
    error?.details ?? [],
    retryAfter > 0 ? retryAfter : undefined,
  );
}

function readBody(text: string): Plain {
  try {
    return parseResponse(text);
  } catch {
    return null;
  }
}

/** A proxy may close an idle connection at the moment at which it is used again. */
function isClosed(cause: unknown): boolean {
  const code = (innermost(cause) as { code?: unknown } | undefined)?.code;
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET';
}

function describe(cause: unknown): string {
  const inner = innermost(cause);
  return inner instanceof Error ? inner.message : String(inner);
}

function innermost(cause: unknown): unknown {
  return (cause as { cause?: unknown } | undefined)?.cause ?? cause;
}
