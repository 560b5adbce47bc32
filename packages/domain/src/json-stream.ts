import { AkinError } from './errors.ts';
import { describeCodePoint, type JsonLimits, type JsonObject, type JsonValue, jsonError, parseJson } from './json.ts';
import { BACKSLASH, CLOSE_ARRAY, CLOSE_OBJECT, COLON, COMMA, OPEN_ARRAY, OPEN_OBJECT, QUOTE } from './json-bytes.ts';

/** One value of a body, with its position from 0 among the elements or members. */
export type JsonItem =
  /** An element of a body that is an array. */
  | { readonly kind: 'element'; readonly position: number; readonly value: JsonValue }
  /** An element over the limit, of which nothing is kept. */
  | { readonly kind: 'oversized'; readonly position: number; readonly error: AkinError }
  /** A member of a body that is an object; keys may repeat. */
  | { readonly kind: 'member'; readonly position: number; readonly key: string; readonly value: JsonValue }
  /** A body that is an object, as a whole. */
  | { readonly kind: 'object'; readonly position: 0; readonly value: JsonObject }
  /** An empty or blank body. */
  | { readonly kind: 'empty' };

export interface JsonStreamLimits extends JsonLimits {
  /** Maximum bytes of one element, member value, key or whole object. Default: 8 MiB. */
  readonly valueBytes?: number;
  /** How a body that is an object is returned: member by member (a command map), or as a whole (a document). */
  readonly objects: 'members' | 'whole';
}

/**
 * Reads a JSON body of any length from UTF-8 chunks, which may be split anywhere. Memory is bounded by `valueBytes`.
 *
 * @throws AkinError bad-request that names line and column (malformed JSON, a body that is neither an array nor an
 * object, bytes that are not UTF-8, a body that ends early or continues after its end); too-large for a value over the
 * limit that is no element of an array
 */
export async function* readJsonStream(
  chunks: AsyncIterable<Uint8Array>,
  limits: JsonStreamLimits,
): AsyncGenerator<JsonItem, void, undefined> {
  const stream = new JsonStream(limits);
  for await (const chunk of chunks) yield* stream.push(chunk);
  yield* stream.end();
}

const DEFAULT_VALUE_BYTES = 8 * 1024 * 1024;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const NEWLINE = 0x0a;

/** What may follow, apart from blanks. */
type Expecting = 'body' | 'first' | 'next' | 'key' | 'colon' | 'value' | 'separator' | 'nothing';
/** How the end of the current value is found: by depth, by quote, or at the first byte that cannot belong to it. */
type Gathering = 'none' | 'nested' | 'string' | 'scalar';

/**
 * The synchronous part of `readJsonStream`. It only searches the bytes for the ends of values (structural characters
 * are ASCII, and no byte of a longer UTF-8 sequence looks like ASCII); `parseJson` then parses each value.
 */
class JsonStream {
  readonly #limits: JsonStreamLimits;
  readonly #valueBytes: number;
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

  #expecting: Expecting = 'body';
  #form: 'array' | 'members' = 'array';
  #position = 0;
  #key: string | undefined;

  #gathering: Gathering = 'none';
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** Whether the current element is over the limit. */
  #isOversized = false;
  /** Bytes of the current value from earlier chunks: the first `#kept` bytes of a buffer that grows and is reused. */
  #buffer = new Uint8Array(0);
  #kept = 0;

  /** Position of the current value or byte, for messages. */
  #line = 1;
  #column = 1;
  /** How many bytes of the byte order mark were read; -1 when it can no longer occur. */
  #mark = 0;

  constructor(limits: JsonStreamLimits) {
    this.#limits = limits;
    this.#valueBytes = limits.valueBytes ?? DEFAULT_VALUE_BYTES;
  }

  /** Processes the next bytes and yields the values that they complete. The generator must be run to its end. */
  *push(chunk: Uint8Array): Generator<JsonItem, void, undefined> {
    let at = 0;
    while (at < chunk.length) {
      if (this.#gathering === 'none') {
        const byte = chunk[at] as number;
        if (this.#mark >= 0 && this.#takeMark(byte)) at++;
        else if (this.#blank(byte)) at++;
        else if (this.#structure(byte)) at++;
        continue;
      }
      const end = this.#findEnd(chunk, at);
      const bytes = chunk.subarray(at, end < 0 ? chunk.length : end);
      at = end < 0 ? chunk.length : end;
      if (!this.#isOversized && this.#kept + bytes.length > this.#valueBytes) {
        const error = this.#tooLarge();
        if (!this.#isElement) throw error;
        yield { kind: 'oversized', position: this.#position, error };
        this.#isOversized = true;
        this.#advance(this.#buffer.subarray(0, this.#kept));
        this.#kept = 0;
      }
      if (this.#isOversized) {
        this.#advance(bytes);
        if (end >= 0) this.#endOversized();
        continue;
      }
      if (end < 0) {
        this.#keep(bytes);
        return;
      }
      const item = this.#finish(bytes);
      if (item !== undefined) yield item;
    }
  }

  /** Call after the last chunk. */
  *end(): Generator<JsonItem, void, undefined> {
    if (this.#gathering !== 'none') throw this.#error(`the body ends inside the ${this.#what()} that begins here`);
    if (this.#expecting === 'body' && this.#mark <= 0) yield { kind: 'empty' };
    else if (this.#expecting !== 'nothing') {
      throw this.#error(`expected ${this.#expected()}, found the end of the body`);
    }
  }

  /** True if the byte belongs to a byte order mark at the start of the body. */
  #takeMark(byte: number): boolean {
    if (byte === BYTE_ORDER_MARK[this.#mark]) {
      this.#mark = this.#mark === 2 ? -1 : this.#mark + 1;
      return true;
    }
    if (this.#mark > 0) throw this.#notUtf8();
    this.#mark = -1;
    return false;
  }

  #blank(byte: number): boolean {
    if (byte === NEWLINE) {
      this.#line++;
      this.#column = 1;
      return true;
    }
    if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false;
    this.#column++;
    return true;
  }

  /** Processes a structural byte. Returns false if the byte is the first one of a value. */
  #structure(byte: number): boolean {
    switch (this.#expecting) {
      case 'body':
        if (byte === OPEN_OBJECT && this.#limits.objects === 'whole') return this.#gather(byte);
        if (byte !== OPEN_ARRAY && byte !== OPEN_OBJECT) throw this.#unexpected(byte);
        this.#form = byte === OPEN_ARRAY ? 'array' : 'members';
        return this.#step('first');
      case 'first':
        if (byte === (this.#form === 'array' ? CLOSE_ARRAY : CLOSE_OBJECT)) return this.#step('nothing');
        if (this.#form === 'members' && byte !== QUOTE) throw this.#unexpected(byte);
        return this.#gather(byte);
      case 'next':
      case 'value':
        return this.#gather(byte);
      case 'key':
        if (byte !== QUOTE) throw this.#unexpected(byte);
        return this.#gather(byte);
      case 'colon':
        if (byte !== COLON) throw this.#unexpected(byte);
        return this.#step('value');
      case 'separator':
        if (byte === COMMA) return this.#step(this.#form === 'array' ? 'next' : 'key');
        if (byte !== (this.#form === 'array' ? CLOSE_ARRAY : CLOSE_OBJECT)) throw this.#unexpected(byte);
        return this.#step('nothing');
      case 'nothing':
        throw this.#unexpected(byte);
    }
  }

  #step(expecting: Expecting): true {
    this.#expecting = expecting;
    this.#column++;
    return true;
  }

  #gather(byte: number): false {
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#gathering = 'nested';
    else if (byte === QUOTE) this.#gathering = 'string';
    else if (byte === 0x2d || (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x7a))
      this.#gathering = 'scalar';
    else throw this.#unexpected(byte);
    return false;
  }

  /** Returns the index after the last byte of the value, or -1 if the value continues in the next chunk. */
  #findEnd(chunk: Uint8Array, from: number): number {
    if (this.#gathering === 'scalar') {
      for (let at = from; at < chunk.length; at++) {
        const byte = chunk[at] as number;
        if (byte === COMMA || byte === CLOSE_ARRAY || byte === CLOSE_OBJECT || byte <= 0x20) return at;
      }
      return -1;
    }
    const single = this.#gathering === 'string';
    let depth = this.#depth;
    let inString = this.#inString;
    let escaped = this.#escaped;
    let end = -1;
    for (let at = from; at < chunk.length; at++) {
      let byte = chunk[at] as number;
      if (inString) {
        if (escaped) {
          escaped = false;
          continue;
        }
        // The hottest line: nearly all bytes of a body are compared here.
        while (byte !== QUOTE && byte !== BACKSLASH && ++at < chunk.length) byte = chunk[at] as number;
        if (byte === BACKSLASH) escaped = true;
        else if (byte === QUOTE) {
          inString = false;
          if (single) {
            end = at + 1;
            break;
          }
        }
      } else if (byte === QUOTE) inString = true;
      else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) depth++;
      else if ((byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) && --depth === 0) {
        end = at + 1;
        break;
      }
    }
    this.#depth = depth;
    this.#inString = inString;
    this.#escaped = escaped;
    return end;
  }

  /** Parses the value that ends with the given bytes. Returns no item for a key. */
  #finish(last: Uint8Array): JsonItem | undefined {
    const text = this.#decode(last);
    const value = parseJson(text, this.#limits, { line: this.#line, column: this.#column });
    this.#gathering = 'none';
    this.#advance(text);
    if (this.#expecting === 'body') {
      this.#expecting = 'nothing';
      return { kind: 'object', position: 0, value: value as JsonObject };
    }
    if (this.#form === 'array') {
      this.#expecting = 'separator';
      return { kind: 'element', position: this.#position++, value };
    }
    if (this.#key === undefined) {
      this.#key = value as string;
      this.#expecting = 'colon';
      return undefined;
    }
    const key = this.#key;
    this.#key = undefined;
    this.#expecting = 'separator';
    return { kind: 'member', position: this.#position++, key, value };
  }

  /** Copies the bytes, because the sender may reuse the memory of the chunk. */
  #keep(bytes: Uint8Array): void {
    const length = this.#kept + bytes.length;
    if (length > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(length, this.#buffer.length * 2));
      larger.set(this.#buffer.subarray(0, this.#kept));
      this.#buffer = larger;
    }
    this.#buffer.set(bytes, this.#kept);
    this.#kept = length;
  }

  #decode(last: Uint8Array): string {
    let bytes = last;
    if (this.#kept > 0) {
      this.#keep(last);
      bytes = this.#buffer.subarray(0, this.#kept);
      this.#kept = 0;
    }
    try {
      return this.#decoder.decode(bytes);
    } catch {
      throw this.#notUtf8();
    }
  }

  #endOversized(): void {
    this.#isOversized = false;
    this.#gathering = 'none';
    this.#expecting = 'separator';
    this.#position++;
  }

  get #isElement(): boolean {
    return this.#form === 'array' && this.#expecting !== 'body';
  }

  /** Moves the position past a value, or past bytes of an oversized element, in whose last line columns count bytes. */
  #advance(passed: string | Uint8Array): void {
    const newlineFrom = (from: number) =>
      typeof passed === 'string' ? passed.indexOf('\n', from) : passed.indexOf(NEWLINE, from);
    let lineStart = -1;
    for (let at = newlineFrom(0); at >= 0; at = newlineFrom(at + 1)) {
      this.#line++;
      lineStart = at;
    }
    this.#column = lineStart < 0 ? this.#column + passed.length : passed.length - lineStart;
  }

  #expected(): string {
    switch (this.#expecting) {
      case 'body':
        return 'an array or an object';
      case 'first':
        return this.#form === 'array' ? 'a value or ]' : 'a key in double quotes or }';
      case 'next':
        return 'a value after the comma';
      case 'key':
        return 'a key in double quotes after the comma';
      case 'colon':
        return 'a colon behind the key';
      case 'value':
        return 'a value behind the colon';
      case 'separator':
        return this.#form === 'array' ? 'a comma or ]' : 'a comma or }';
      case 'nothing':
        return 'nothing after the end of the body';
    }
  }

  #unexpected(byte: number): AkinError {
    const found = byte < 0x80 ? describeCodePoint(byte) : `the byte 0x${byte.toString(16).toUpperCase()}`;
    return this.#error(`expected ${this.#expected()}, found ${found}`);
  }

  #notUtf8(): AkinError {
    return this.#error(`the ${this.#what()} that begins here is not UTF-8; send the body in UTF-8`);
  }

  #what(): string {
    if (this.#expecting === 'body') return this.#gathering === 'none' ? 'body' : 'object';
    if (this.#form === 'array') return `element at position ${this.#position}`;
    return this.#key === undefined ? 'key' : `value of ${JSON.stringify(this.#key.slice(0, 60))}`;
  }

  #tooLarge(): AkinError {
    const message = `The ${this.#what()}, which begins at line ${this.#line}, column ${this.#column}, has more than ${this.#valueBytes} bytes, which is the limit for one document or command. Send less in one.`;
    return new AkinError('too-large', message, {
      details: this.#isElement ? [{ position: this.#position, code: 'too-large', msg: message }] : [],
    });
  }

  #error(problem: string): AkinError {
    return jsonError({ line: this.#line, column: this.#column }, problem);
  }
}
