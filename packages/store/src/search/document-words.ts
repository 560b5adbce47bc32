import { AkinError, tokenize } from '@akin/domain';

/** The texts of one string field of a document, with the column that holds the field. */
export interface FieldTexts {
  readonly column: string;
  readonly texts: readonly string[];
}

/** Positions between two values, so that no phrase spans them. */
const VALUE_GAP = 100;
/** PostgreSQL stores no greater position. Later words are found, but phrases there are not. */
const LAST_POSITION = 16_383;

/** Limits of PostgreSQL for a tsvector: bytes of all lexemes with their positions, and positions of one. */
const MAX_BYTES = 2 ** 20 - 1;
const MAX_POSITIONS = 256;

/**
 * The contents of the column `words` of a document: each word of each string value, and each again with the name of its
 * column for searches in one field.
 *
 * @param vocabulary gets the words too
 * @returns a tsvector in its binary format, which costs server and process a third of its text
 * @throws AkinError too-large
 */
export function documentWords(fields: Iterable<FieldTexts>, vocabulary?: Set<string>): Buffer {
  const chains = new Map<string, Chain>();
  const columns: string[] = [];
  /** Whether a column came again after others. */
  let isAgain = false;
  let position = 0;
  let count = 0;
  for (const { column, texts } of fields) {
    let number = columns.lastIndexOf(column);
    if (number < 0) number = columns.push(column) - 1;
    else isAgain ||= number < columns.length - 1;
    for (const text of texts) {
      for (const word of tokenize(text)) {
        position++;
        if (count === occurrences.next.length) occurrences = largerOccurrences(occurrences);
        occurrences.position[count] = Math.min(position, LAST_POSITION);
        occurrences.column[count] = number;
        occurrences.next[count] = NONE;
        const chain = chains.get(word);
        if (chain === undefined) chains.set(word, { first: count, last: count });
        else {
          occurrences.next[chain.last] = count;
          chain.last = count;
        }
        count++;
      }
      position += VALUE_GAP;
    }
  }
  const prefixes = columns.map((column) => fieldWord(column, ''));
  const writer = new WordsWriter(isAgain);
  for (const [word, { first }] of chains) {
    vocabulary?.add(word);
    writer.add('', word, first, ANY);
    for (let at = first, before = NONE; at !== NONE; at = occurrences.next[at] as number) {
      const column = occurrences.column[at] as number;
      const isNew = column !== before && !(isAgain && comesBefore(column, first, at));
      if (isNew) writer.add(prefixes[column] as string, word, at, column);
      before = column;
    }
  }
  return writer.end();
}

/** The occurrences of a word in a document: the first, which leads to the others, and the last. */
interface Chain {
  readonly first: number;
  last: number;
}

const NONE = -1;
/** Any column. */
const ANY = -1;

/** The occurrences of words in the present document: position, column, and the next occurrence of the same word. */
let occurrences = { position: new Int32Array(256), column: new Int32Array(256), next: new Int32Array(256) };

function largerOccurrences(before: typeof occurrences): typeof occurrences {
  const larger = (numbers: Int32Array) => {
    const copy = new Int32Array(2 * numbers.length);
    copy.set(numbers);
    return copy;
  };
  return { position: larger(before.position), column: larger(before.column), next: larger(before.next) };
}

/** Whether a column is in a chain before one of its occurrences. */
function comesBefore(column: number, first: number, end: number): boolean {
  for (let at = first; at !== end; at = occurrences.next[at] as number)
    if (occurrences.column[at] === column) return true;
  return false;
}

/**
 * The output buffer, until it is copied. It is as large as the largest output so far, up to the limit of a tsvector.
 */
let scratch = Buffer.allocUnsafe(16_384);

/**
 * Writes the format of `tsvectorrecv`: the number of lexemes, and each with its number of positions and these,
 * ascending.
 */
class WordsWriter {
  #lexemes = 0;
  #at = 4;
  /** As the server counts. */
  #bytes = 0;
  /** Whether occurrences in one column may come after occurrences in others. */
  readonly #isMixed: boolean;

  constructor(isMixed: boolean) {
    this.#isMixed = isMixed;
  }

  /** Adds a word with its occurrences from one on, in one column or in all. */
  add(prefix: string, word: string, first: number, column: number): void {
    // One UTF-16 unit becomes three bytes at most.
    const maxBytes = 3 * (prefix.length + word.length) + 3 + 2 * MAX_POSITIONS;
    if (this.#at + maxBytes > scratch.length) {
      const larger = Buffer.allocUnsafe(2 * (this.#at + maxBytes));
      scratch.copy(larger, 0, 0, this.#at);
      scratch = larger;
    }
    const from = this.#at;
    let at = writeText(word, writeText(prefix, from));
    this.#bytes += at - from;
    scratch[at++] = 0;
    const count = at;
    at += 2;
    let last = 0;
    let kept = 0;
    for (
      let occurrence = first;
      occurrence !== NONE && kept < MAX_POSITIONS;
      occurrence = occurrences.next[occurrence] as number
    ) {
      if (column !== ANY && column !== occurrences.column[occurrence]) {
        if (this.#isMixed) continue;
        break;
      }
      const position = occurrences.position[occurrence] as number;
      if (position === last) continue;
      scratch[at++] = position >>> 8;
      scratch[at++] = position & 255;
      last = position;
      kept++;
    }
    scratch[count] = kept >>> 8;
    scratch[count + 1] = kept & 255;
    this.#bytes += (this.#bytes & 1) + 2 + 2 * kept;
    if (this.#bytes > MAX_BYTES) throw new AkinError('too-large', 'The document has too many different words.');
    this.#at = at;
    this.#lexemes++;
  }

  end(): Buffer {
    scratch.writeInt32BE(this.#lexemes, 0);
    return Buffer.from(scratch.subarray(0, this.#at));
  }
}

/** @returns where the text ends */
function writeText(text: string, from: number): number {
  // Nearly all words are short and ASCII: they are written without a call into the engine.
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 127) return from + scratch.write(text, from, 'utf8');
    scratch[from + i] = code;
  }
  return from + text.length;
}

/** The lexeme of a word in one field. No word begins with a colon, so no prefix of a plain word matches these. */
export function fieldWord(column: string, word: string): string {
  return `:${column}:${word}`;
}

/** A lexeme in the text of a tsvector or tsquery: quoted, so that nothing in it is syntax. */
export function quoteLexeme(lexeme: string): string {
  return /['\\]/.test(lexeme) ? `'${lexeme.replace(/['\\]/g, '$&$&')}'` : `'${lexeme}'`;
}
