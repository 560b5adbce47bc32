import { type AkinError, badRequest, quote } from '@akin/domain';

/** Parameters in their order. Names may repeat. */
export type ParameterList = readonly (readonly [name: string, value: string])[];

/** Parameters that contain a picture or its outputs. */
export function isPayload(name: string): boolean {
  return name.endsWith('.data') || name.endsWith('.outputs') || name.endsWith('.preprocessed');
}

const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;

/** A form of at most this many bytes is decoded at once, which takes less than a millisecond. */
const SMALL_BYTES = 64 * 1024;

/**
 * Parses `name=value&name=value` as bytes arrive, so that a form of 35 MB never blocks the event loop. Plus is a space,
 * escapes are UTF-8. Empty pairs (a leading `&`) are skipped. A name without `=` has the empty value.
 *
 * @throws AkinError bad-request for broken escapes, text that is not UTF-8, or too many parameters
 */
export class FormReader {
  readonly #maxParameters: number;
  readonly #pairs: [string, string][] = [];
  /** A small first chunk, until it is known whether it is the whole form. */
  #first: Uint8Array | undefined;
  #isBegun = false;
  #pieces: Uint8Array[] = [];
  #name: string | null = null;
  /** Hex digits of an escape that the end of a chunk has split. Null outside of an escape. */
  #escape: string | null = null;

  constructor(maxParameters: number) {
    this.#maxParameters = maxParameters;
  }

  write(chunk: Uint8Array): void {
    if (!this.#isBegun && chunk.length <= SMALL_BYTES) this.#first = chunk;
    else this.#read(chunk);
    this.#isBegun = true;
  }

  end(): ParameterList {
    const small = this.#first && readSmall(this.#first, this.#maxParameters);
    if (small !== undefined) return small;
    this.#readFirst();
    if (this.#escape !== null) throw this.#broken('an escape that is cut off');
    this.#endPair();
    return this.#pairs;
  }

  #readFirst(): void {
    const first = this.#first;
    this.#first = undefined;
    if (first !== undefined) this.#read(first);
  }

  #read(chunk: Uint8Array): void {
    this.#readFirst();
    const out = new Uint8Array(chunk.length + 1);
    let length = 0;
    const flush = () => {
      if (length > 0) this.#pieces.push(out.slice(0, length));
      length = 0;
    };
    for (const byte of chunk) {
      if (this.#escape !== null) {
        this.#escape += String.fromCharCode(byte);
        if (this.#escape.length < 2) continue;
        if (!/^[0-9a-fA-F]{2}$/.test(this.#escape)) throw this.#broken(`the escape %${this.#escape}`);
        out[length++] = Number.parseInt(this.#escape, 16);
        this.#escape = null;
      } else if (byte === PERCENT) {
        this.#escape = '';
      } else if (byte === AMPERSAND) {
        flush();
        this.#endPair();
      } else if (byte === EQUALS && this.#name === null) {
        flush();
        this.#name = this.#takeText();
      } else {
        out[length++] = byte === PLUS ? SPACE : byte;
      }
    }
    flush();
  }

  #endPair(): void {
    const text = this.#takeText();
    const pair: [string, string] = this.#name === null ? [text, ''] : [this.#name, text];
    this.#name = null;
    if (pair[0] === '') return;
    if (this.#pairs.length >= this.#maxParameters) {
      throw badRequest(`More than ${this.#maxParameters} parameters in one request.`);
    }
    this.#pairs.push(pair);
  }

  #takeText(): string {
    if (this.#pieces.length === 0) return '';
    const bytes = this.#pieces.length === 1 ? (this.#pieces[0] as Uint8Array) : Buffer.concat(this.#pieces);
    this.#pieces = [];
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (cause) {
      throw this.#broken('bytes that are not UTF-8', cause);
    }
  }

  #broken(what: string, cause?: unknown): AkinError {
    const where = this.#name === null ? 'A parameter' : `The parameter ${quote(this.#name)}`;
    return badRequest(`${where} contains ${what}: percent-encode it as UTF-8.`, { cause });
  }
}

/**
 * Parses a small form with the decoder of the engine, byte by byte it takes many times as long. @returns undefined if
 * that is not possible: raw UTF-8, or an error, which {@link FormReader} explains
 */
function readSmall(bytes: Uint8Array, maxParameters: number): ParameterList | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  if (NOT_ASCII.test(text)) return undefined;
  const pairs: [string, string][] = [];
  try {
    for (const pair of text.split('&')) {
      const equals = pair.indexOf('=');
      const name = decode(equals < 0 ? pair : pair.slice(0, equals));
      const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
      if (name !== '') pairs.push([name, value]);
    }
  } catch {
    return undefined;
  }
  return pairs.length > maxParameters ? undefined : pairs;
}

const NOT_ASCII = /[^\0-\x7f]/;

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? decodeURIComponent(spaced) : spaced;
}

/** Parameters of a URL as Node gives it: the part after the `?`, one character per byte. */
export function readQueryString(text: string, maxParameters: number): ParameterList {
  const reader = new FormReader(maxParameters);
  reader.write(Buffer.from(text, 'latin1'));
  return reader.end();
}
