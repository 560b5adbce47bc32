import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { AkinError, badRequest, quote } from '@akin/domain';
import { unlessAborted } from '@akin/runtime';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';

export const MULTIPART_TYPE = 'multipart/form-data';

export interface Part {
  readonly name: string;
  /** The name that a file has at the client. It is text of the client, and no path here. */
  readonly fileName?: string | undefined;
  readonly bytes: Uint8Array;
}

interface MultipartLimits {
  readonly parts: number;
  /** @throws AkinError if a part grows beyond its limit in bytes */
  readonly check: (name: string, bytes: number) => void;
}

/** Headers of a part: its name and type, and a few that some programs add. */
const HEADER_PAIRS = 16;
const HEADER_BYTES = 8 * 1024;
/**
 * The parser's own buffer for a part. Its back-pressure never resumes after a part that it skips, for example one without
 * a name; the bytes stay in memory anyway, and were counted before.
 */
const BUFFER_BYTES = Number.MAX_SAFE_INTEGER;

/**
 * The parts of a body of multipart/form-data (RFC 7578) in their order, as its bytes arrive. Every part is kept as
 * bytes, whatever type it declares.
 *
 * @param contentType the whole header, which contains the boundary
 * @throws AkinError bad-request for a body that is malformed, truncated or has too many parts; errors of reading the
 * chunks; the reason of the signal
 */
export async function readMultipart(
  contentType: string,
  chunks: AsyncIterable<Uint8Array>,
  limits: MultipartLimits,
  signal: AbortSignal,
): Promise<Part[]> {
  const parts: { name: string; fileName: string | undefined; chunks: Uint8Array[]; length: number }[] = [];
  const parser = openParser(contentType, limits.parts);
  const fail = (error: unknown) => parser.destroy(error as Error);
  parser.on('filesLimit', () => fail(malformed(`it has more than ${limits.parts} parts`)));
  parser.on('file', (name: string | undefined, stream: BusboyFileStream, fileName: string | undefined) => {
    if (name === undefined || name === '') fail(malformed('a part has no name'));
    const part = { name: name ?? '', fileName, chunks: [] as Uint8Array[], length: 0 };
    parts.push(part);
    stream.on('error', fail).on('data', (chunk: Uint8Array) => {
      try {
        limits.check(part.name, part.length + chunk.length);
        part.length += chunk.length;
        part.chunks.push(chunk);
      } catch (error) {
        fail(error);
      }
    });
  });
  try {
    await unlessAborted(pipeline(Readable.from(chunks), parser), signal);
  } catch (error) {
    if (error instanceof AkinError) throw error;
    throw malformed('it is cut off, or not what its Content-Type says', error);
  }
  return parts.map(({ name, fileName, chunks, length }) => ({ name, fileName, bytes: Buffer.concat(chunks, length) }));
}

/** @throws AkinError bad-request if the part is not UTF-8 */
export function textOf({ name, bytes }: Part): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw badRequest(`The part ${quote(name)} is not UTF-8.`, { cause });
  }
}

function openParser(contentType: string, parts: number): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      // Its text fields may declare other encodings. akin reads only UTF-8, and refuses the rest.
      isPartAFile: () => true,
      fileHwm: BUFFER_BYTES,
      limits: { files: parts, headerPairs: HEADER_PAIRS, headerSize: HEADER_BYTES },
    });
  } catch (error) {
    throw malformed('its Content-Type names no boundary; let the client write that header itself', error);
  }
}

function malformed(problem: string, cause?: unknown): AkinError {
  return badRequest(`The multipart body cannot be read: ${problem}.`, { cause });
}
