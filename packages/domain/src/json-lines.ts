import { AkinError, badRequest } from './errors.ts';
import { type JsonValue, parseJson } from './json.ts';

/** Maximum bytes of one line: the same as for one value of any other body. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

/** `line` counts from 1. */
export type JsonLine =
  | { readonly line: number; readonly value: JsonValue }
  | { readonly line: number; readonly error: AkinError };

/**
 * Reads NDJSON (JSON Lines), one JSON value a line, from a stream of UTF-8 chunks. Memory is bounded by one line. Lines
 * end with LF or CRLF, which is optional for the last one; blank lines are skipped. A line that is not JSON has an
 * error of code bad-request, which names the line, in place of a value; one of more than 8 MiB has the code too-large.
 */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<JsonLine> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  let held: Uint8Array[] = [];
  let bytes = 0;
  /** Returns an error with the piece that makes the line too long. The rest of the line is dropped. */
  const take = (piece: Uint8Array): JsonLine | undefined => {
    const wasRead = bytes <= MAX_LINE_BYTES;
    bytes += piece.length;
    if (bytes <= MAX_LINE_BYTES) held.push(piece);
    else held = [];
    return wasRead && bytes > MAX_LINE_BYTES ? { line, error: tooLong(line) } : undefined;
  };
  const parse = () => (bytes > MAX_LINE_BYTES ? undefined : parseLine(decoder, held, line));
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      const read = take(chunk.subarray(from, end)) ?? parse();
      if (read !== undefined) yield read;
      held = [];
      bytes = 0;
      line++;
      from = end + 1;
    }
    const error = from < chunk.length ? take(chunk.subarray(from)) : undefined;
    if (error !== undefined) yield error;
  }
  const last = parse();
  if (last !== undefined) yield last;
}

function tooLong(line: number): AkinError {
  return new AkinError(
    'too-large',
    `Line ${line} has more than ${MAX_LINE_BYTES} bytes: end each document with a newline.`,
  );
}

/** Returns undefined for a blank line. */
function parseLine(
  decoder: InstanceType<typeof TextDecoder>,
  pieces: readonly Uint8Array[],
  line: number,
): JsonLine | undefined {
  let text: string;
  try {
    // Decode in one call: a streaming decoder takes seven times as long.
    text = decoder.decode(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces));
  } catch (cause) {
    return { line, error: badRequest(`Line ${line} is not UTF-8.`, { cause }) };
  }
  if (text.trim() === '') return undefined;
  try {
    return { line, value: parseJson(text, {}, { line, column: 1 }) };
  } catch (error) {
    if (!(error instanceof AkinError)) throw error;
    return { line, error };
  }
}
