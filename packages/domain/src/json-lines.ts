import { AkinError } from './errors.ts';
import { type JsonValue, parseJson } from './json.ts';

/** Maximum bytes of one line: the same as for one value of any other body. */
const MAX_LINE_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Reads NDJSON (JSON Lines), one JSON value a line, from a stream of UTF-8 chunks. Memory is bounded by one line. Lines
 * end with LF or CRLF, which is optional for the last one; blank lines are skipped.
 *
 * @throws AkinError bad-request that names the line, from 1; too-large for a line of more than 8 MiB
 */
export async function* readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ readonly line: number; readonly value: JsonValue }> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let line = 1;
  let held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      held.push(chunk.subarray(from, end));
      checkLength(bytes + end - from, line);
      const value = parseLine(decoder, held, line);
      if (value !== undefined) yield { line, value };
      held = [];
      bytes = 0;
      line++;
      from = end + 1;
    }
    if (from < chunk.length) held.push(chunk.subarray(from));
    bytes += chunk.length - from;
    checkLength(bytes, line);
  }
  const value = parseLine(decoder, held, line);
  if (value !== undefined) yield { line, value };
}

function checkLength(bytes: number, line: number): void {
  if (bytes <= MAX_LINE_BYTES) return;
  throw new AkinError(
    'too-large',
    `Line ${line} has more than ${MAX_LINE_BYTES} bytes: end each document with a newline.`,
  );
}

/** Returns undefined for a blank line. */
function parseLine(
  decoder: InstanceType<typeof TextDecoder>,
  pieces: readonly Uint8Array[],
  line: number,
): JsonValue | undefined {
  let text: string;
  try {
    // Decode in one call: a streaming decoder takes seven times as long.
    text = decoder.decode(pieces.length === 1 ? pieces[0] : joined(pieces));
  } catch (cause) {
    throw new AkinError('bad-request', `Line ${line} is not UTF-8.`, { cause });
  }
  return text.trim() === '' ? undefined : parseJson(text, {}, { line, column: 1 });
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
