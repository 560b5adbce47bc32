import { AkinError } from '@akin/domain';

/** Parameters in their order. Names may repeat. */
export type ParameterList = readonly (readonly [name: string, value: string])[];

const AMPERSAND = 0x26;
const EQUALS = 0x3d;
const PERCENT = 0x25;
const PLUS = 0x2b;
const SPACE = 0x20;

/**
 * Parses `name=value&name=value` as bytes arrive, so that a form of 35 MB never blocks the event loop. Plus is a space,
 * escapes are UTF-8. Empty pairs (a leading `&`) are skipped. A name without `=` has the empty value.
 *
 * @throws AkinError bad-request for broken escapes, text that is not UTF-8, or too many parameters
 */
export class FormReader {
  readonly #mostParameters: number;
  readonly #pairs: [string, string][] = [];
  #pieces: Uint8Array[] = [];
  #name: string | null = null;
  /** Hex digits of an escape that the end of a chunk has split. Null outside of an escape. */
  #escape: string | null = null;

  constructor(mostParameters: number) {
    this.#mostParameters = mostParameters;
  }

  write(chunk: Uint8Array): void {
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

  end(): ParameterList {
    if (this.#escape !== null) throw this.#broken('an escape that is cut off');
    this.#endPair();
    return this.#pairs;
  }

  #endPair(): void {
    const text = this.#takeText();
    const pair: [string, string] = this.#name === null ? [text, ''] : [this.#name, text];
    this.#name = null;
    if (pair[0] === '') return;
    if (this.#pairs.length >= this.#mostParameters) {
      throw new AkinError('bad-request', `More than ${this.#mostParameters} parameters in one request.`);
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
    const where = this.#name === null ? 'A parameter' : `The parameter ${this.#name}`;
    return new AkinError('bad-request', `${where} contains ${what}: percent-encode it as UTF-8.`, { cause });
  }
}

/** Parameters of a URL as Node gives it: the part after the `?`, one character per byte. */
export function readQueryString(text: string, mostParameters: number): ParameterList {
  const reader = new FormReader(mostParameters);
  reader.write(Buffer.from(text, 'latin1'));
  return reader.end();
}
