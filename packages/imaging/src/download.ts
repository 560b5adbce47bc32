import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { AkinError, parseUrl } from '@akin/domain';
import { addressKind, type DownloadPolicy, isAllowed } from './address.ts';
import { decodedBody, UnreadCodingError } from './content-encoding.ts';
import { DEFAULT_IMAGE_LIMITS, formatBytes, type ImageLimits } from './limits.ts';
import { ProxyError } from './proxy.ts';
import { type RequestSettings, sendRequest } from './request.ts';
import { looksLikeWebPage } from './sniff.ts';

/** This much of each picture is kept without calling `admit`: most pictures are smaller. */
const BYTES_BEFORE_ADMISSION = 1_000_000;

/** How pictures are downloaded, as the operator sets it. */
export interface DownloadSettings extends RequestSettings {
  readonly policy: DownloadPolicy;
  readonly limits?: Partial<ImageLimits>;
}

export interface DownloadOptions extends DownloadSettings {
  readonly signal?: AbortSignal;
  /**
   * Called once for a picture of more than 1 MB, before more of it is read, with its maximum size in bytes.
   * Reading pauses until the promise resolves; the pause does not count as download time.
   */
  readonly admit?: (bytes: number) => Promise<void>;
}

/**
 * Downloads the bytes of an http(s) URL, with protection against server-side request forgery. At the first URL and at
 * every redirect, the host's addresses are resolved once, each is checked against the policy, and the connection uses
 * exactly these addresses. So unusual spellings of an address and DNS responses that change between check and
 * connection (DNS rebinding) have no effect. The decoder checks what the bytes are; only a web page is rejected here,
 * because then the URL was wrong.
 *
 * @throws AkinError `image-unreachable` with the reason, and with `retryAfterSeconds` if the cause is often temporary;
 * or `too-large`. Messages contain the URL without its query, which may hold signatures, and no headers. If the caller aborts `signal`,
 * its reason is thrown.
 */
export async function downloadImage(url: string, options: DownloadOptions): Promise<Uint8Array> {
  const limits = { ...DEFAULT_IMAGE_LIMITS, ...options.limits };
  const timeout = new AbortController();
  const timer = new PausableTimeout(limits.downloadMilliseconds, () => timeout.abort());
  const signal = options.signal ? AbortSignal.any([options.signal, timeout.signal]) : timeout.signal;
  const withoutTimeout = async <Value>(wait: () => Promise<Value>): Promise<Value> => {
    timer.stop();
    try {
      return await wait();
    } finally {
      timer.start();
    }
  };
  const admit = (bytes: number) => withoutTimeout(async () => options.admit?.(bytes));
  let address = pictureUrl(url);
  const visited: URL[] = [];
  try {
    for (let redirects = 0; ; redirects++) {
      const url = address;
      const addresses = await withoutTimeout(() => allowedAddresses(url, options.policy, limits, options.signal));
      const response = await sendRequest(address, addresses, visited, options, signal);
      visited.push(address);
      try {
        const next = redirectTarget(response, address);
        if (!next) return await readPicture(response, address, limits.bytes, admit);
        if (redirects === limits.redirects) {
          throw unreachableError(address, `it redirects more than ${limits.redirects} times`);
        }
        address = next;
      } finally {
        response.destroy();
      }
    }
  } catch (error) {
    if (options.signal?.aborted) throw options.signal.reason;
    if (timeout.signal.aborted) {
      const reason = `it did not deliver within ${limits.downloadMilliseconds / 1000} seconds`;
      throw unreachableError(address, reason, error, true);
    }
    throw error instanceof AkinError ? error : unreachableError(address, reasonOf(error), error, isTransient(error));
  } finally {
    timer.stop();
  }
}

class PausableTimeout {
  readonly #done: () => void;
  #left: number;
  #from = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(milliseconds: number, done: () => void) {
    this.#left = milliseconds;
    this.#done = done;
    this.start();
  }

  start(): void {
    this.#from = performance.now();
    this.#timer = setTimeout(this.#done, this.#left);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#left -= performance.now() - this.#from;
  }
}

function pictureUrl(text: string, base?: URL): URL {
  const subject = base ? 'The URL of the picture redirects to one that' : 'The URL of the picture';
  const url = parseUrl(text, base?.href);
  if (url === undefined) {
    throw new AkinError('image-unreachable', `${subject} is not a URL. Send an absolute http or https URL.`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AkinError(
      'image-unreachable',
      `${subject} begins with ${url.protocol} and only http: and https: are fetched.`,
    );
  }
  if (url.username || url.password) {
    throw new AkinError('image-unreachable', `${subject} has a user name or password in it. Send one without.`);
  }
  return url;
}

async function allowedAddresses(
  url: URL,
  policy: DownloadPolicy,
  { lookupMilliseconds }: ImageLimits,
  signal: AbortSignal | undefined,
): Promise<LookupAddress[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const late = AbortSignal.timeout(lookupMilliseconds);
  const addresses = await unlessAborted(lookupOnce(host), signal ? AbortSignal.any([signal, late]) : late).catch(
    (error: unknown) => {
      if (late.aborted || codeOf(error) === 'EAI_AGAIN') {
        throw unreachableError(url, 'its host name could not be looked up in time (DNS)', error, true);
      }
      throw unreachableError(url, 'its host name is not known (DNS)', error);
    },
  );
  if (addresses.length === 0) throw unreachableError(url, 'its host name has no address (DNS)');
  const refused = addresses.find(({ address }) => !isAllowed(host, address, policy));
  if (refused) throw unreachableError(url, REFUSALS[addressKind(refused.address)]);
  return addresses;
}

const lookups = new Map<string, Promise<LookupAddress[]>>();

/**
 * Each lookup takes one of the few threads that Node has for lookups. If the DNS server of a host does not answer, its
 * pictures must not take all of them.
 */
function lookupOnce(host: string): Promise<LookupAddress[]> {
  const running = lookups.get(host);
  if (running) return running;
  const started = lookup(host, { all: true }).finally(() => lookups.delete(host));
  lookups.set(host, started);
  return started;
}

/** Why an address is refused. The message does not contain the address, because it may be a secret of the network. */
const REFUSALS: Record<ReturnType<typeof addressKind>, string> = {
  public: 'its address is refused',
  loopback:
    'it leads to the machine that akin runs on, which the configuration does not allow (--allow-loopback-images)',
  private:
    'it leads into a private network, which the configuration does not allow (--image-hosts, --allow-private-images)',
  'link-local': 'it leads to a link-local address, which is never fetched',
  metadata: 'it leads to a cloud metadata address, which is never fetched',
  reserved: 'it leads to a reserved address, which is never fetched',
};

/** The resolution of a name by DNS cannot be interrupted. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Undefined for a final response. */
function redirectTarget(response: IncomingMessage, from: URL): URL | undefined {
  const status = response.statusCode ?? 0;
  if (![301, 302, 303, 307, 308].includes(status)) return undefined;
  const { location } = response.headers;
  if (!location) throw unreachableError(from, `it answered ${status}, a redirect without a target`);
  // Node reads headers as Latin-1. Browsers send the bytes of such a URL as they are, which mostly are UTF-8.
  const escaped = location.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return pictureUrl(escaped, from);
}

async function readPicture(
  response: IncomingMessage,
  url: URL,
  maxBytes: number,
  admit: (bytes: number) => Promise<void>,
): Promise<Uint8Array> {
  const status = response.statusCode ?? 0;
  if (status < 200 || status > 299) {
    const isTransient = status >= 500 || [408, 425, 429].includes(status);
    const seconds = isTransient ? retryAfterOf(response) : undefined;
    const wish = seconds === undefined ? '' : ` and asks to wait ${seconds} s`;
    throw unreachableError(
      url,
      `it answered with status ${status}${wish}`,
      undefined,
      isTransient && (seconds ?? true),
    );
  }
  const { 'content-length': length, 'content-encoding': coding } = response.headers;
  if (Number(length ?? 0) > maxBytes) throw tooLargeError(url, maxBytes);
  // The uncompressed size of a compressed body is unknown.
  const max = (coding === undefined && Number(length)) || maxBytes;
  const chunks: Uint8Array[] = [];
  let size = 0;
  let admitted = Math.min(BYTES_BEFORE_ADMISSION, maxBytes);
  for await (const chunk of decodedBody(response)) {
    size += chunk.length;
    if (size > maxBytes) throw tooLargeError(url, maxBytes);
    if (size > admitted) {
      await admit(max);
      admitted = maxBytes;
    }
    chunks.push(chunk);
  }
  if (size === 0) throw unreachableError(url, `it answered with status ${status} and an empty body`);
  const bytes = Buffer.concat(chunks);
  if (looksLikeWebPage(bytes)) throw unreachableError(url, 'it answered with a web page (HTML) instead of an image');
  return bytes;
}

/** The seconds that a response asks to wait: at least 1, at most a day. */
function retryAfterOf({ headers }: IncomingMessage): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(1, Math.ceil(seconds)), 86_400) : undefined;
}

function tooLargeError(url: URL, maxBytes: number): AkinError {
  return new AkinError(
    'too-large',
    `The image at ${loggableUrl(url)} has more than ${formatBytes(maxBytes)}, which is the limit.`,
  );
}

/**
 * @param retryAfter whether the same URL may work later, or after how many seconds: then the error says when to try
 * again
 */
function unreachableError(url: URL, reason: string, cause?: unknown, retryAfter: boolean | number = false): AkinError {
  return new AkinError('image-unreachable', `The image at ${loggableUrl(url)} could not be fetched: ${reason}.`, {
    ...(cause === undefined ? {} : { cause }),
    ...(retryAfter === false ? {} : { retryAfterSeconds: Number(retryAfter) }),
  });
}

function isTransient(error: unknown): boolean {
  if (error instanceof ProxyError) return true;
  return ['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'].includes(codeOf(error));
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code ?? '');
}

/** The URL without query and fragment, which may contain signatures and keys. */
function loggableUrl(url: URL): string {
  const text = url.origin + url.pathname;
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function reasonOf(error: unknown): string {
  if (error instanceof ProxyError) return `the proxy ${error.message}`;
  if (error instanceof UnreadCodingError) return `it is compressed as ${error.message}, which this Node cannot read`;
  const code = codeOf(error);
  if (code === 'ECONNREFUSED') return 'the connection was refused';
  if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'UND_ERR_SOCKET') return 'the connection broke off';
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH' || code === 'EADDRNOTAVAIL') return 'its host is out of reach';
  if (code === 'ETIMEDOUT') return 'the connection timed out';
  if (/CERT|SIGNATURE|SSL|TLS|EPROTO/.test(code)) return `the secure connection failed (${code})`;
  if (/^HPE_|^ERR_HTTP/.test(code)) return 'the response is not valid HTTP';
  if (/^Z_|^ERR_.*BROTLI|^ERR__ERROR|^ZSTD/.test(code)) return 'the compressed response is damaged';
  return 'the connection failed';
}
