import type { IncomingMessage } from 'node:http';
import { pipeline, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { sniffImage } from './sniff.ts';

/** More bytes than any image or compressed format needs to be recognized. */
const HEAD_BYTES = 64;
/** Each coding needs memory of its own. No server applies more. */
const MAX_CODINGS = 4;

/** A coding that was applied to a body, and that this version of Node cannot undo. */
export class UnreadCodingError extends Error {
  override readonly name = 'UnreadCodingError';
}

/**
 * The body of a response without its content codings. The bytes decide: many servers name codings that they did not
 * apply (`aws-chunked` and `gzip` from object stores), or that are none (`utf-8`, `binary`). So a body that begins like
 * an image is taken as it is, and codings are ignored that are unknown, or whose signature it does not have.
 *
 * @throws UnreadCodingError; errors of zlib for a damaged body
 */
export async function* decodedBody(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  const codings = (response.headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .filter((one) => Object.hasOwn(DECODERS, one))
    .slice(-MAX_CODINGS);
  yield* withoutCodings(response, codings);
}

async function* withoutCodings(
  body: AsyncIterable<Uint8Array>,
  codings: readonly string[],
): AsyncGenerator<Uint8Array> {
  const last = codings.at(-1);
  if (last === undefined) return yield* body;
  const chunks = body[Symbol.asyncIterator]();
  const head = await readHead(chunks);
  const all = rejoined(head, chunks);
  if (head.length === 0 || isImage(head)) return yield* all;
  if (!hasSignature(last, head)) return yield* withoutCodings(all, codings.slice(0, -1));
  const decoder = DECODERS[last]?.(head);
  if (decoder === undefined) throw new UnreadCodingError(last);
  // Errors reach the reader through the decoder.
  yield* withoutCodings(
    pipeline(all, decoder, () => {}),
    codings.slice(0, -1),
  );
}

/** By name. Undefined: this version of Node has none. */
const DECODERS: Readonly<Record<string, ((head: Uint8Array) => Transform) | undefined>> = {
  gzip: () => zlib.createGunzip(),
  'x-gzip': () => zlib.createGunzip(),
  deflate: (head) => (isZlib(head) ? zlib.createInflate() : zlib.createInflateRaw()),
  br: () => zlib.createBrotliDecompress(),
  zstd: (zlib as { createZstdDecompress?: () => Transform }).createZstdDecompress,
};

/** The first bytes of every body of a coding. Others have no signature. */
const SIGNATURES: Readonly<Record<string, readonly number[]>> = {
  gzip: [0x1f, 0x8b],
  'x-gzip': [0x1f, 0x8b],
  zstd: [0x28, 0xb5, 0x2f, 0xfd],
};

function hasSignature(coding: string, head: Uint8Array): boolean {
  return (SIGNATURES[coding] ?? []).every((byte, i) => head[i] === byte);
}

/** Whether a body of the coding `deflate` has the zlib header (RFC 1950) that some servers leave out. */
function isZlib([first = 0, second = 0]: Uint8Array): boolean {
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

function isImage(head: Uint8Array): boolean {
  try {
    sniffImage(head);
    return true;
  } catch {
    return false;
  }
}

async function readHead(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const head: Uint8Array[] = [];
  for (let size = 0; size < HEAD_BYTES; ) {
    const { value, done } = await chunks.next();
    if (done) break;
    head.push(value);
    size += value.length;
  }
  return Buffer.concat(head);
}

async function* rejoined(head: Uint8Array, chunks: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value;
  } finally {
    await chunks.return?.();
  }
}
