import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { AkinError } from '@akin/domain';
import type { GatewayLimits } from '../limits.ts';

/** What a request sends behind its headers. */
export interface Body {
  /** Content type in lower case without its parameters; empty when none was sent. */
  readonly type: string;
  /** False when there is certainly no body. */
  readonly sent: boolean;
  /** Bytes that the headers announce; 0 when they do not say. */
  readonly announced: number;
  /**
   * The bytes, decompressed and counted. Read once.
   *
   * @param within milliseconds in which all must have come, where the client may not take its time
   * @throws AkinError too-large past `mostBytes`; bad-request for broken compression, a pause or a cut connection
   */
  bytes(mostBytes: number, within?: number): AsyncGenerator<Uint8Array>;
}

/** Past so many bytes the ratio of compression is watched. */
const RATIO_WATCHED_FROM = 32 * 1024 ** 2;

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export function openBody(request: IncomingMessage, limits: GatewayLimits): Body {
  const [type = '', ...parameters] = (request.headers['content-type'] ?? '').split(';').map((part) => part.trim());
  const sent =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? '0') > 0;
  return {
    type: type.toLowerCase(),
    sent,
    announced: Number(request.headers['content-length'] ?? '0'),
    bytes: (mostBytes, within = Number.POSITIVE_INFINITY) => {
      requireUtf8(parameters);
      return readBytes(request, mostBytes, performance.now() + within, limits);
    },
  };
}

function requireUtf8(parameters: readonly string[]): void {
  for (const parameter of parameters) {
    const [, charset] = /^charset="?([^"]*)"?$/i.exec(parameter) ?? [];
    if (charset === undefined || /^(utf-?8|us-ascii|ascii)$/i.test(charset)) continue;
    throw new AkinError('unsupported-media-type', `A body in ${charset} is not read: send UTF-8.`);
  }
}

async function* readBytes(
  request: IncomingMessage,
  mostBytes: number,
  deadline: number,
  limits: GatewayLimits,
): AsyncGenerator<Uint8Array> {
  if (Number(request.headers['content-length'] ?? '0') > mostBytes) throw tooLarge(mostBytes);
  const receivedBefore = request.socket.bytesRead;
  let count = 0;
  // The stream is left as it is when reading stops early: destroying it would cut the connection before the answer.
  const chunks: AsyncIterator<Uint8Array> = decoded(request).iterator({ destroyOnReturn: false });
  for (;;) {
    const chunk = await nextChunk(chunks, limits.bodyIdleMilliseconds);
    if (chunk === null) return;
    if (performance.now() > deadline) throw new AkinError('bad-request', 'The body took too long to come.');
    count += chunk.length;
    if (count > mostBytes) throw tooLarge(mostBytes);
    if (
      count > RATIO_WATCHED_FROM &&
      count >
        (request.socket.bytesRead - receivedBefore + RATIO_WATCHED_FROM / limits.compressionRatio) *
          limits.compressionRatio
    ) {
      throw new AkinError('too-large', 'The compressed body grows too much: send it less compressed, or in parts.');
    }
    yield chunk;
  }
}

/** The next chunk, or null at the end. Only waiting for the client counts as a pause, not our own work in between. */
async function nextChunk(chunks: AsyncIterator<Uint8Array>, idleMilliseconds: number): Promise<Uint8Array | null> {
  let timer: NodeJS.Timeout | undefined;
  const idle = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new AkinError('bad-request', `No byte of the body came for ${idleMilliseconds / 1000} seconds.`));
    }, idleMilliseconds);
  });
  try {
    const { done, value } = await Promise.race([chunks.next(), idle]);
    return done ? null : value;
  } catch (error) {
    if (error instanceof AkinError) throw error;
    if (/^(Z_|ERR__ERROR|ERR_BROTLI|ERR_PADDING|ERR__ZLIB)/.test(codeOf(error))) {
      const message = 'The body does not decompress: it is cut off or not what Content-Encoding says.';
      throw new AkinError('bad-request', message, { cause: error });
    }
    throw new AkinError('bad-request', 'The connection ended before the body did.', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function decoded(request: IncomingMessage): Readable {
  let stream: Readable = request;
  const encodings = (request.headers['content-encoding'] ?? '').split(',').map((name) => name.trim().toLowerCase());
  for (const name of encodings.reverse()) {
    if (name === '' || name === 'identity') continue;
    const create = DECODERS[name];
    if (!create) {
      throw new AkinError('unsupported-media-type', `Content-Encoding ${name} is not read: use gzip, deflate or br.`);
    }
    stream = decodeWith(create(), stream);
  }
  return stream;
}

/** Pipes without `pipeline`, which would destroy the request, and so the connection, when the bytes are broken. */
function decodeWith(decoder: Transform, source: Readable): Readable {
  source.on('error', (error) => decoder.destroy(error));
  source.on('close', () => {
    if (!source.readableEnded) decoder.destroy(new Error('cut off'));
  });
  return source.pipe(decoder);
}

function tooLarge(mostBytes: number): AkinError {
  const megabytes = Math.floor(mostBytes / 1024 ** 2);
  return new AkinError('too-large', `The body is larger than ${megabytes} MB: send it in parts.`);
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}
