import { AkinError, words } from '@akin/domain';

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
const MOST_BYTES = 2 ** 20 - 1;
const MOST_POSITIONS = 256;

/**
 * The contents of the column `words` of a document: each word of each string value, and each again with the name of its
 * column for searches in one field.
 *
 * @param vocabulary gets the words too
 * @returns a tsvector in its binary format, which costs server and process a third of its text
 * @throws AkinError too-large
 */
export function documentWords(fields: Iterable<FieldTexts>, vocabulary?: Set<string>): Buffer {
  const all = new Map<string, number[]>();
  const byColumn = new Map<string, Map<string, number[]>>();
  let position = 0;
  for (const { column, texts } of fields) {
    const own = byColumn.get(column) ?? new Map<string, number[]>();
    byColumn.set(column, own);
    for (const text of texts) {
      for (const word of words(text)) {
        position++;
        const known = own.get(word);
        if (known === undefined) own.set(word, [Math.min(position, LAST_POSITION)]);
        else known.push(Math.min(position, LAST_POSITION));
      }
      position += VALUE_GAP;
    }
  }
  for (const own of byColumn.values()) {
    for (const [word, positions] of own) {
      const known = all.get(word);
      all.set(word, known === undefined ? positions : [...known, ...positions].sort((a, b) => a - b));
    }
  }
  const writer = new WordsWriter();
  for (const [word, positions] of all) {
    vocabulary?.add(word);
    writer.add('', word, positions);
  }
  for (const [column, own] of byColumn) {
    const prefix = fieldWord(column, '');
    for (const [word, positions] of own) writer.add(prefix, word, positions);
  }
  return writer.end();
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

  add(prefix: string, word: string, positions: readonly number[]): void {
    // One UTF-16 unit becomes three bytes at most.
    const room = 3 * (prefix.length + word.length) + 3 + 2 * Math.min(positions.length, MOST_POSITIONS);
    if (this.#at + room > scratch.length) {
      const larger = Buffer.allocUnsafe(2 * (this.#at + room));
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
    for (const position of positions) {
      if (position === last || kept === MOST_POSITIONS) continue;
      scratch[at++] = position >>> 8;
      scratch[at++] = position & 255;
      last = position;
      kept++;
    }
    scratch[count] = kept >>> 8;
    scratch[count + 1] = kept & 255;
    this.#bytes += (this.#bytes & 1) + 2 + 2 * kept;
    if (this.#bytes > MOST_BYTES) throw new AkinError('too-large', 'The document has too many different words.');
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
