import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AkinError, badRequest } from '@akin/domain';
import { unlessAborted } from '@akin/runtime';
import type { GatewayLimits } from '../admission/limits.ts';
import { WaitBudget } from '../admission/wait-budget.ts';
import type { Lifetime } from './lifetime.ts';

export interface Body {
  /** Content type in lower case without its parameters. Empty if none was sent. */
  readonly type: string;
  /** The raw header. */
  readonly contentType: string;
  /** False if there is certainly no body. */
  readonly mayHaveBody: boolean;
  /** Number of bytes that the headers announce. 0 if they do not say. */
  readonly contentLength: number;
  /**
   * The bytes, decompressed and counted. To be read once. Sets the deadlines of the request.
   *
   * @param within time limit in milliseconds for reading and parsing the whole body, if there is one
   * @throws AkinError too-large beyond `maxBytes`; request-timeout if it arrives too slowly; bad-request for broken
   * compression or a closed connection
   */
  bytes(maxBytes: number, within?: number): AsyncGenerator<Uint8Array>;
}

/** From this number of bytes on, the compression ratio is checked. */
const RATIO_WATCHED_FROM = 32 * 1024 ** 2;

/** Each compression needs its own memory before the first byte. */
const MAX_ENCODINGS = 2;

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export function openBody(request: IncomingMessage, limits: GatewayLimits, lifetime: Lifetime): Body {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';').map((part) => part.trim());
  const mayHaveBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? '0') > 0;
  return {
    type: type.toLowerCase(),
    contentType: request.headers['content-type'] ?? '',
    mayHaveBody,
    contentLength: Number(request.headers['content-length'] ?? '0'),
    bytes: (maxBytes, within) => {
      requireUtf8(parameters);
      return withDeadlines(readBytes(request, maxBytes, limits, lifetime.signal), within, limits, lifetime);
    },
  };
}

function requireUtf8(parameters: readonly string[]): void {
  for (const parameter of parameters) {
    const [, charset] = /^charset="?([^"]*)"?$/i.exec(parameter) ?? [];
    if (charset === undefined || /^(utf-?8|us-ascii|ascii)$/i.test(charset)) continue;
    throw new AkinError('unsupported-media-type', `akin does not read a body in ${charset}: send UTF-8.`);
  }
}

/** Bytes of a body with the deadlines of its request: of the whole body, or of what is done with each piece of it. */
async function* withDeadlines(
  chunks: AsyncGenerator<Uint8Array>,
  within: number | undefined,
  { answerMilliseconds }: GatewayLimits,
  lifetime: Lifetime,
): AsyncGenerator<Uint8Array> {
  if (within !== undefined) {
    lifetime.limit(within, () => new AkinError('request-timeout', 'The body took too long to arrive.'));
  }
  try {
    for await (const chunk of chunks) {
      if (within === undefined) lifetime.limit(answerMilliseconds);
      yield chunk;
    }
  } finally {
    lifetime.limit(answerMilliseconds);
  }
}

async function* readBytes(
  request: IncomingMessage,
  maxBytes: number,
  limits: GatewayLimits,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const announced = Number(request.headers['content-length'] ?? '0');
  if (announced > maxBytes) throw tooLarge(maxBytes);
  // Small bodies come with the headers, without a wait. Node says only later that they are complete.
  const isThere = request.complete || (announced > 0 && request.readableLength === announced);
  if (isThere && !request.destroyed && encodingsOf(request).length === 0) {
    const whole: Uint8Array | null = request.read();
    if ((whole?.length ?? 0) > maxBytes) throw tooLarge(maxBytes);
    if (whole !== null) yield whole;
    return;
  }
  const receivedBefore = request.socket.bytesRead;
  const arrivals = new BodyTimeout(request, limits);
  let count = 0;
  // The stream is not destroyed if reading stops early: that would close the connection before the response.
  const chunks: AsyncIterator<Uint8Array> = decoded(request).iterator({ destroyOnReturn: false });
  for (;;) {
    const chunk = await nextChunk(chunks, arrivals, signal);
    if (chunk === null) return;
    count += chunk.length;
    if (count > maxBytes) throw tooLarge(maxBytes);
    if (
      count > RATIO_WATCHED_FROM &&
      count >
        (request.socket.bytesRead - receivedBefore + RATIO_WATCHED_FROM / limits.compressionRatio) *
          limits.compressionRatio
    ) {
      throw new AkinError(
        'too-large',
        'The compressed body expands too much: send it with less compression, or in parts.',
      );
    }
    yield chunk;
  }
}

/**
 * Waits for bytes of the client, as long as the rate of its body allows. Our own processing in between does not count.
 */
class BodyTimeout {
  readonly #socket: Socket;
  readonly #limits: GatewayLimits;
  readonly #budget: WaitBudget;

  constructor({ socket }: IncomingMessage, limits: GatewayLimits) {
    this.#socket = socket;
    this.#limits = limits;
    this.#budget = new WaitBudget(limits.bodyIdleMilliseconds, limits.bodyBytesPerSecond);
  }

  /** @throws AkinError request-timeout; the reason of the signal */
  async wait<Value>(next: Promise<Value>, signal: AbortSignal): Promise<Value> {
    do {
      const began = performance.now();
      const before = this.#socket.bytesRead;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<typeof TIMED_OUT>((resolve) => {
        // What arrived while this process was held up is read first.
        timer = setTimeout(() => setImmediate(resolve, TIMED_OUT), this.#budget.left);
      });
      const first = await unlessAborted(Promise.race([next, late]), signal).finally(() => clearTimeout(timer));
      this.#budget.record(performance.now() - began, this.#socket.bytesRead - before);
      if (first !== TIMED_OUT) return first;
    } while (this.#budget.left > 0);
    const { bodyIdleMilliseconds, bodyBytesPerSecond } = this.#limits;
    throw new AkinError(
      'request-timeout',
      `The body stopped or arrives too slowly: send at least ${bodyBytesPerSecond} bytes a second, and pause for less than ${bodyIdleMilliseconds / 1000} seconds.`,
    );
  }
}

const TIMED_OUT = Symbol('timed out');

/** Null at the end. */
async function nextChunk(
  chunks: AsyncIterator<Uint8Array>,
  arrivals: BodyTimeout,
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const next = chunks.next();
  // After a timeout nothing waits for it.
  next.catch(() => {});
  try {
    const { done, value } = await arrivals.wait(next, signal);
    return done ? null : value;
  } catch (error) {
    if (error instanceof AkinError) throw error;
    if (/^(Z_|ERR__ERROR|ERR_BROTLI|ERR_PADDING|ERR__ZLIB)/.test(codeOf(error))) {
      const message = 'The body cannot be decompressed: it is cut off, or Content-Encoding is wrong.';
      throw badRequest(message, { cause: error });
    }
    throw badRequest('The connection ended before the body did.', { cause: error });
  }
}

function encodingsOf({ headers }: IncomingMessage): string[] {
  const encodings = (headers['content-encoding'] ?? '').split(',').map((name) => name.trim().toLowerCase());
  return encodings.filter((name) => name !== '' && name !== 'identity');
}

function decoded(request: IncomingMessage): Readable {
  let stream: Readable = request;
  const used = encodingsOf(request);
  if (used.length > MAX_ENCODINGS) {
    throw new AkinError('unsupported-media-type', 'Content-Encoding names too many: compress the body once.');
  }
  for (const name of used.reverse()) {
    const create = DECODERS[name];
    if (!create) {
      throw new AkinError('unsupported-media-type', `Content-Encoding ${name} is not read: use gzip, deflate or br.`);
    }
    stream = decodeWith(create(), stream);
  }
  return stream;
}

/** Pipes without `pipeline`, which would destroy the request, and so the connection, if the bytes are malformed. */
function decodeWith(decoder: Transform, source: Readable): Readable {
  source.on('error', (error) => decoder.destroy(error));
  source.on('close', () => {
    if (!source.readableEnded) decoder.destroy(new Error('cut off'));
  });
  return source.pipe(decoder);
}

function tooLarge(maxBytes: number): AkinError {
  const megabytes = Math.floor(maxBytes / 1024 ** 2);
  return new AkinError('too-large', `The body is larger than ${megabytes} MB: send it in parts.`);
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
