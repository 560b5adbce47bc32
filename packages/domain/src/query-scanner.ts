import { type AkinError, badRequest } from './errors.ts';
import type { ParameterLookup } from './geodist.ts';
import type { WildcardPart } from './query.ts';
import { unstorableReason } from './text.ts';

/** `{!type key=value …}`: the parameters before a query that say how to parse it. */
export interface LocalParams {
  readonly type: string | undefined;
  readonly params: ReadonlyMap<string, string>;
}

type Operator = 'and' | 'or' | 'not' | 'plus' | 'minus' | 'open' | 'close' | 'colon' | 'filter' | 'end';

/** A token of the query language. `start` and `end` are UTF-16 positions in the text. */
export type Token = { readonly start: number; readonly end: number } & (
  | { readonly kind: Operator }
  /** Without wildcards there is exactly one part. */
  | { readonly kind: 'word'; readonly parts: readonly WildcardPart[] }
  | { readonly kind: 'phrase'; readonly value: string }
  | {
      readonly kind: 'range';
      readonly low: string | null;
      readonly high: string | null;
      readonly includeLow: boolean;
      readonly includeHigh: boolean;
    }
  /** `^2`, or `^=2` when `constant`. */
  | { readonly kind: 'boost'; readonly constant: boolean; readonly factor: number }
  /** `~`, `~1`, `~0.8` */
  | { readonly kind: 'tilde'; readonly amount: number | null }
  | { readonly kind: 'local'; readonly local: LocalParams }
);

/** The position of a nested query in the query that contains it. Counted in characters from 0. */
export type OuterPosition = number | undefined;

/**
 * The error of a query that cannot be parsed: where (characters are counted from 1), and what was expected there.
 * @param origin position of the query if it is nested in another one
 */
export function queryError(text: string, position: number, problem: string, origin?: OuterPosition): AkinError {
  const character = charactersIn(text, 0, position) + 1;
  const before = text.slice(Math.max(0, position - 20), position).replace(/^[\udc00-\udfff]/, '');
  const where = before === '' ? '' : `, after ${JSON.stringify(before)}`;
  const found = `cannot be read at ${origin === undefined ? '' : 'its '}character ${character}${where}: ${problem}.`;
  const query = origin === undefined ? 'The query' : `The query inside the one that begins at character ${origin + 1}`;
  return badRequest(`${query} ${found}`);
}

/** Number of code points between two UTF-16 positions. */
function charactersIn(text: string, from: number, to: number): number {
  let characters = 0;
  for (let i = from; i < to; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xdc00 || unit > 0xdfff) characters++;
  }
  return characters;
}

const BLANKS = ' \t\n\r\u3000';
/**
 * Characters that end a word. `* ?` do not: they make it a pattern. `+ - ! /` do not either, although a word cannot
 * start with them.
 */
export const WORD_ENDS = `${BLANKS}():^[]"{}~`;
const WORD_OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ['AND', 'and'],
  ['&&', 'and'],
  ['OR', 'or'],
  ['||', 'or'],
  ['NOT', 'not'],
]);
const CHARACTER_OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ['(', 'open'],
  [')', 'close'],
  [':', 'colon'],
  ['+', 'plus'],
  ['-', 'minus'],
  ['!', 'not'],
]);

export interface ScanStart {
  readonly from?: number;
  /** Number of characters before `from`. */
  readonly characters?: number;
  readonly origin?: OuterPosition;
}

/** Splits a query into tokens, one at a time, by the rules of Solr's standard parser. */
export class QueryScanner {
  readonly text: string;
  /** Where the next token starts, or the blanks before it. */
  position: number;
  readonly #parameter: ParameterLookup;
  readonly #origin: OuterPosition;
  /** A UTF-16 position and the number of characters before it. Counting continues from there. */
  #counted: { position: number; characters: number };

  /**
   * @param parameter looks up `$name` in local parameters
   * @param start where to start; the text before it was already read
   */
  constructor(text: string, parameter: ParameterLookup = () => undefined, start: ScanStart = {}) {
    const { from = 0, characters = 0, origin } = start;
    this.text = text;
    this.position = from;
    this.#parameter = parameter;
    this.#origin = origin;
    this.#counted = { position: from, characters };
  }

  /** The start for another scanner that continues in this text. */
  startAt(from: number): ScanStart {
    return { from, characters: this.characterAt(from), origin: this.#origin };
  }

  /** The start for a scanner of a value at a position. */
  startInside(position: number): ScanStart {
    return { origin: this.characterAt(position) };
  }

  /**
   * The number of characters before a position in the text that the user wrote. A nested query is counted by a separate
   * scanner.
   */
  characterAt(position: number): number {
    if (this.#origin !== undefined) return this.#origin;
    const { position: from, characters } = this.#counted;
    if (position < from) return characters - charactersIn(this.text, position, from);
    this.#counted = { position, characters: characters + charactersIn(this.text, from, position) };
    return this.#counted.characters;
  }

  next(): Token {
    this.#skip();
    const start = this.position;
    const char = this.text[start];
    if (char === undefined) return { kind: 'end', start, end: start };
    if (char === '"') return this.#phrase();
    if (char === '[' || (char === '{' && this.text[start + 1] !== '!')) return this.#range();
    if (char === '{') return this.#localToken();
    if (char === '^') return this.#boost();
    if (char === '~') return this.#tilde();
    if (char === '/') throw this.#regularExpression(start);
    if (this.text.startsWith('filter(', start)) return this.#take({ kind: 'filter' }, start, start + 7);
    const operator = CHARACTER_OPERATORS.get(char);
    if (operator !== undefined) {
      // An operator followed by a blank is a word, so that "salt - pepper" excludes nothing.
      const blank = '+-!'.includes(char) && isBlank(this.text[start + 1]);
      if (blank) return this.#take({ kind: 'word', parts: [char] }, start, start + 1);
      return this.#take({ kind: operator }, start, start + 1);
    }
    if (char === ']' || char === '}')
      throw this.error(start, `a ${char} closes nothing here; write \\${char} for the character`);
    return this.word(start);
  }

  /** Reads a word from `start`, even if its first character could not start a word. */
  word(start: number): Token {
    const parts: WildcardPart[] = [];
    let from = start;
    let at = start;
    const flush = (end: number) => {
      if (end > from) parts.push(this.unescape(from, end));
      from = end + 1;
    };
    for (; at < this.text.length; at++) {
      const char = this.text[at] as string;
      if (char === '\\') at++;
      else if (char === '*' || char === '?') {
        flush(at);
        parts.push({ any: char });
      } else if (WORD_ENDS.includes(char)) break;
    }
    const end = Math.min(at, this.text.length);
    flush(end);
    const operator = WORD_OPERATORS.get(this.text.slice(start, end));
    return this.#take(operator === undefined ? { kind: 'word', parts } : { kind: operator }, start, end);
  }

  /** Does not consume the colon. */
  colonFollows(): boolean {
    this.#skip();
    return this.text[this.position] === ':';
  }

  onlyBlanksFollow(): boolean {
    this.#skipBlanks();
    return this.position >= this.text.length;
  }

  /** Reads the local parameters at the current position (`{!`). */
  localParams(): LocalParams {
    const open = this.position;
    let type: string | undefined;
    const params = new Map<string, string>();
    this.position += 2;
    for (;;) {
      this.#skipBlanks();
      const start = this.position;
      if (start >= this.text.length) throw this.error(open, 'the local parameters that begin here are not closed by }');
      if (this.text[start] === '}') break;
      this.#skipUntil('=}');
      const key = this.text.slice(start, this.position);
      if (this.#char() === '=') {
        this.position++;
        if (key === '') throw this.error(start, 'expected the name of a local parameter before =');
        params.set(key, this.#localValue());
      } else if (type === undefined && params.size === 0) type = key;
      else throw this.error(start, `expected key=value in the local parameters, found ${JSON.stringify(key)}`);
    }
    this.position++;
    return { type: type ?? params.get('type'), params };
  }

  /** Decodes the escapes of a slice: a backslash and any character, or `\u` and four hexadecimal digits. */
  unescape(start: number, end: number): string {
    if (!this.text.slice(start, end).includes('\\')) return this.text.slice(start, end);
    const pieces: string[] = [];
    let from = start;
    for (let at = start; at < end; at++) {
      if (this.text[at] !== '\\') continue;
      pieces.push(this.text.slice(from, at));
      if (at + 1 >= end) throw this.error(at, 'the backslash at the end escapes nothing; write \\\\ for the character');
      if (this.text[at + 1] === 'u') {
        const digits = this.text.slice(at + 2, Math.min(at + 6, end));
        if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.error(at, 'expected four hexadecimal digits after \\u');
        pieces.push(String.fromCharCode(Number.parseInt(digits, 16)));
        at += 5;
        from = at + 1;
      } else {
        // The escaped character is copied together with the text that follows it.
        from = at + 1;
        at++;
      }
    }
    pieces.push(this.text.slice(from, end));
    const value = pieces.join('');
    const problem = unstorableReason(value);
    if (problem !== null) throw this.error(start, `the value contains ${problem}, which no document can contain`);
    return value;
  }

  error(position: number, problem: string): AkinError {
    return queryError(this.text, position, problem, this.#origin);
  }

  #phrase(): Token {
    const start = this.position;
    const value = this.#quoted();
    return this.#take({ kind: 'phrase', value }, start, this.position);
  }

  #range(): Token {
    const start = this.position;
    this.position++;
    const low = this.#bound('the lower bound');
    this.#skipBlanks();
    if (!/^TO(?:[ \t\n\r\u3000\]}]|$)/.test(this.text.slice(this.position, this.position + 3))) {
      throw this.error(this.position, 'expected TO between the two bounds of a range, as in [1 TO 5]');
    }
    this.position += 2;
    const high = this.#bound('the upper bound');
    this.#skipBlanks();
    const close = this.#char();
    if (close !== ']' && close !== '}') throw this.error(this.position, 'expected ] or } at the end of a range');
    const ends = { includeLow: this.text[start] === '[', includeHigh: close === ']' };
    return this.#take({ kind: 'range', low, high, ...ends }, start, this.position + 1);
  }

  /** One bound of a range: a quoted text or a run without blanks and brackets; null for `*`. */
  #bound(what: string): string | null {
    this.#skipBlanks();
    const start = this.position;
    if (this.#char() === '"') return this.#quoted();
    while (this.position < this.text.length) {
      const char = this.#char();
      if (char === '\\') this.position++;
      else if (isBlank(char) || char === ']' || char === '}') break;
      this.position++;
    }
    this.position = Math.min(this.position, this.text.length);
    if (this.position === start) throw this.error(start, `expected ${what} of a range, or *`);
    return this.text.slice(start, this.position) === '*' ? null : this.unescape(start, this.position);
  }

  #boost(): Token {
    const start = this.position;
    const match = /^\^(=?)([0-9]+(?:\.[0-9]+)?)/.exec(this.text.slice(start, start + 64));
    const factor = Number(match?.[2]);
    if (match === null) throw this.error(start, 'expected a number of 0 or more after ^, as in ^2 or ^=1.5');
    return this.#take({ kind: 'boost', constant: match[1] === '=', factor }, start, start + match[0].length);
  }

  #tilde(): Token {
    const start = this.position;
    const match = /^~([0-9]+(?:\.[0-9]+)?)?/.exec(this.text.slice(start, start + 64)) as RegExpExecArray;
    const amount = match[1] === undefined ? null : Number(match[1]);
    return this.#take({ kind: 'tilde', amount }, start, start + match[0].length);
  }

  #localToken(): Token {
    const start = this.position;
    return { kind: 'local', local: this.localParams(), start, end: this.position };
  }

  #localValue(): string {
    const start = this.position;
    const quote = this.#char();
    if (quote === '"' || quote === "'") return this.#quoted();
    this.#skipUntil('}');
    const text = this.text.slice(start, this.position);
    if (quote !== '$') return text;
    const value = this.#parameter(text.slice(1));
    if (value !== undefined) return value;
    throw this.error(
      start,
      `the request has no parameter ${JSON.stringify(text.slice(1, 60))}, which ${text.slice(0, 60)} stands for`,
    );
  }

  /** Reads a text in quotes, whose opening quote is at the current position. */
  #quoted(): string {
    const start = this.position;
    const quote = this.#char();
    let end = start + 1;
    while (end < this.text.length && this.text[end] !== quote) end += this.text[end] === '\\' ? 2 : 1;
    if (end >= this.text.length) throw this.error(start, 'the quote that begins here is not closed');
    this.position = end + 1;
    return this.unescape(start + 1, end);
  }

  /** Skips blanks and comments; comments can be nested. */
  #skip(): void {
    for (;;) {
      this.#skipBlanks();
      const start = this.position;
      if (!this.text.startsWith('/*', start)) return;
      let depth = 0;
      do {
        if (this.text.startsWith('/*', this.position)) depth++;
        else if (this.text.startsWith('*/', this.position)) depth--;
        else {
          if (this.position >= this.text.length)
            throw this.error(start, 'the comment that begins here is not closed by */');
          this.position++;
          continue;
        }
        this.position += 2;
      } while (depth > 0);
    }
  }

  #skipBlanks(): void {
    while (this.position < this.text.length && isBlank(this.#char())) this.position++;
  }

  /** Skips characters that are neither blanks nor in `ends`. */
  #skipUntil(ends: string): void {
    while (this.position < this.text.length && !(BLANKS + ends).includes(this.#char() as string)) this.position++;
  }

  #char(): string | undefined {
    return this.text[this.position];
  }

  #take<T>(token: T, start: number, end: number): T & { start: number; end: number } {
    this.position = end;
    return { ...token, start, end };
  }

  #regularExpression(start: number): AkinError {
    return this.error(
      start,
      'regular expressions (/…/) are not supported; write \\/ for a slash, or put the value in quotes',
    );
  }
}

function isBlank(char: string | undefined): boolean {
  return char !== undefined && BLANKS.includes(char);
}
