import { type AkinError, badRequest, quote } from '@akin/domain';

/** Parameters in their order. Names may repeat. */
export type ParameterList = readonly (readonly [name: string, value: string])[];

/** Parameters that contain a picture or its outputs. */
export function isPayload(name: string): boolean {
  return name.endsWith('.data') || name.endsWith('.outputs') || name.endsWith('.preprocessed');
}

const NOT_ASCII = /[^\0-\x7f]/;

/**
 * Parses `name=value&name=value` as bytes arrive, so that a form of 35 MB never blocks the event loop. Plus is a space,
 * escapes are UTF-8. Empty pairs (a leading `&`) are skipped. A name without `=` has the empty value.
 *
 * @throws AkinError bad-request for broken escapes, text that is not UTF-8, or too many parameters
 */
export class FormReader {
  readonly #maxParameters: number;
  readonly #pairs: [string, string][] = [];
  #name: string | null = null;
  /** The current name or value: its bytes in earlier chunks, then its text in this one, a character for each byte. */
  #pieces: Uint8Array[] = [];
  #text = '';

  constructor(maxParameters: number) {
    this.#maxParameters = maxParameters;
  }

  write(chunk: Uint8Array): void {
    // An escape that the end of the earlier chunk has cut off continues in this one.
    const [bytes, cut] = this.#unescape(this.#text);
    if (bytes.length > 0) this.#pieces.push(bytes);
    this.#text = '';
    const text = cut + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('latin1');
    for (const [i, part] of text.split('&').entries()) {
      if (i > 0) this.#endPair();
      const equals = this.#name === null ? part.indexOf('=') : -1;
      this.#text = equals < 0 ? part : part.slice(0, equals);
      if (equals < 0) continue;
      this.#name = this.#takeText();
      this.#text = part.slice(equals + 1);
    }
  }

  end(): ParameterList {
    this.#endPair();
    return this.#pairs;
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
    const [pieces, text] = [this.#pieces, this.#text];
    this.#pieces = [];
    this.#text = '';
    try {
      // The decoder of the engine is several times as fast. What it does not decode is raw UTF-8, or broken.
      if (pieces.length === 0 && !NOT_ASCII.test(text)) return decode(text);
    } catch {}
    const [bytes, cut] = this.#unescape(text);
    if (cut !== '') throw this.#broken('an escape that is cut off');
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat([...pieces, bytes]));
    } catch (cause) {
      throw this.#broken('bytes that are not UTF-8', cause);
    }
  }

  /** The bytes of a text, and the escape that its end cuts off. */
  #unescape(text: string): [Uint8Array, cut: string] {
    let cut = '';
    const bytes = text.replace(/\+|%(.{0,2})/gs, (found, digits?: string) => {
      if (digits === undefined) return ' ';
      if (digits.length === 2) {
        if (/^[0-9a-fA-F]{2}$/.test(digits)) return String.fromCharCode(Number.parseInt(digits, 16));
        throw this.#broken(`the escape ${found}`);
      }
      cut = found;
      return '';
    });
    return [Buffer.from(bytes, 'latin1'), cut];
  }

  #broken(what: string, cause?: unknown): AkinError {
    const where = this.#name === null ? 'A parameter' : `The parameter ${quote(this.#name)}`;
    return badRequest(`${where} contains ${what}: percent-encode it as UTF-8.`, { cause });
  }
}

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
