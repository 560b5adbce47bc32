import { createReadStream } from 'node:fs';
import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { badRequest, readJsonStream, stringifyJson } from '@akin/domain';
import { type InputPosition, type Line, LONGEST_LINE } from './line.ts';
import { type CsvOptions, readCsv } from './read-csv.ts';
import { isParquet, readParquet } from './read-parquet.ts';

/** Format of the input. Parquet files and JSON arrays are detected by their first bytes. */
export type Format = 'csv' | 'ndjson';

const CHUNK_BYTES = 256 * 1024;

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
const GZIP = Buffer.from([0x1f, 0x8b]);

/** The format by the name of the file: CSV for `.csv` and `.tsv`, compressed or not; NDJSON for all others. */
export function formatOf(file: string): Format {
  return /\.[ct]sv(\.gz)?$/i.test(file) ? 'csv' : 'ndjson';
}

/**
 * The documents of a file or, for `-`, of standard input, each as a line: NDJSON, one JSON array or CSV, each of them
 * compressed by gzip or not, or a Parquet file. Blank lines are counted and skipped. Keeps one chunk and one line in
 * memory; of Parquet, one slice of rows.
 *
 * @param signal ends the wait for an input that sends nothing
 * @throws the system's errors; AkinError for damaged gzip data, a malformed array or table
 */
export async function* readLines(
  file: string,
  start: InputPosition,
  format: Format,
  cells: CsvOptions,
  signal?: AbortSignal,
): AsyncGenerator<Line> {
  if (file !== '-' && (await isParquet(file))) return yield* readParquet(file, start);
  const unpacked = await readUnpacked(file, signal);
  if (format === 'csv') return yield* readCsv(unpacked, start, cells);
  const [first, chunks] = await peek(unpacked);
  const text = first.subarray(0, 3).equals(BYTE_ORDER_MARK) ? first.subarray(3) : first;
  const isArray = text.find((byte) => ![0x20, 0x09, 0x0a, 0x0d].includes(byte)) === 0x5b;
  yield* isArray ? readArray(chunks, start) : splitLines(chunks, start, text === first ? 0 : 3);
}

/** The bytes of a file or, for `-`, of standard input; without gzip. @throws as {@link readLines} */
export function readUnpacked(file: string, signal?: AbortSignal): Promise<AsyncIterable<Buffer>> {
  const input = file === '-' ? process.stdin : createReadStream(file, { highWaterMark: CHUNK_BYTES });
  if (signal) addAbortSignal(signal, input);
  return unpack(input);
}

async function unpack(input: Readable): Promise<AsyncIterable<Buffer>> {
  const [first, chunks] = await peek(input);
  if (!first.subarray(0, 2).equals(GZIP)) return chunks;
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // The loop over the result throws the errors of the pipeline.
  pipeline(chunks, gunzip, () => {});
  return withGzipErrors(gunzip, input);
}

async function* withGzipErrors(gunzip: AsyncIterable<Buffer>, input: Readable): AsyncGenerator<Buffer> {
  try {
    yield* gunzip;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!code?.startsWith('Z_')) throw error;
    throw badRequest(`The gzip data is cut off or damaged: ${message}.`);
  } finally {
    // The pipeline may wait for more of it, which may never come.
    input.destroy();
  }
}

/** Reads at least three bytes, unless the source is shorter. @returns them, and an iterable of all bytes */
async function peek(source: AsyncIterable<Buffer>): Promise<[Buffer, AsyncIterable<Buffer>]> {
  const iterator = source[Symbol.asyncIterator]();
  let first: Buffer = Buffer.alloc(0);
  while (first.length < 3) {
    const { done, value } = await iterator.next();
    if (done) break;
    first = first.length === 0 ? value : Buffer.concat([first, value]);
  }
  async function* withPeekedChunk() {
    try {
      if (first.length > 0) yield first;
      for (;;) {
        const { done, value } = await iterator.next();
        if (done) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return [first, withPeekedChunk()];
}

async function* splitLines(
  chunks: AsyncIterable<Buffer>,
  start: InputPosition,
  bomBytes: number,
): AsyncGenerator<Line> {
  let number = 0;
  let position = 0;
  let lineStart = bomBytes;
  let kept: Buffer[] = [];
  let keptBytes = 0;
  const finish = (rest: Buffer, end: number): Line | undefined => {
    number++;
    const long = keptBytes + rest.length > LONGEST_LINE;
    const bytes = long ? undefined : kept.length === 0 ? rest : Buffer.concat([...kept, rest]);
    const line = { number, bytes, start: lineStart, end };
    kept = [];
    keptBytes = 0;
    lineStart = end;
    const isDone = start.bytes > 0 ? end <= start.bytes : number <= start.lines;
    return isDone || (bytes !== undefined && isBlank(bytes)) ? undefined : line;
  };
  for await (const chunk of chunks) {
    let from = position === 0 ? bomBytes : 0;
    for (let at = chunk.indexOf(NEWLINE, from); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      const line = finish(chunk.subarray(from, at), position + at + 1);
      if (line) yield line;
      from = at + 1;
    }
    if (from < chunk.length) {
      keptBytes += chunk.length - from;
      // The bytes of a line that is too long are only counted. Others are copied: a view would keep the whole chunk.
      if (keptBytes <= LONGEST_LINE) kept.push(Buffer.from(chunk.subarray(from)));
      else kept = [];
    }
    position += chunk.length;
  }
  if (keptBytes > 0) {
    const line = finish(Buffer.alloc(0), position);
    if (line) yield line;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.length < 64 && bytes.toString('latin1').trim() === '';
}

/** Elements are written again, digit for digit, so that each is a line like any other. */
async function* readArray(chunks: AsyncIterable<Buffer>, start: InputPosition): AsyncGenerator<Line> {
  for await (const item of readJsonStream(chunks, { objects: 'whole' })) {
    if ((item.kind !== 'element' && item.kind !== 'oversized') || item.position < start.lines) continue;
    const bytes = item.kind === 'element' ? Buffer.from(stringifyJson(item.value)) : undefined;
    yield { number: item.position + 1, bytes, start: 0, end: 0 };
  }
}
