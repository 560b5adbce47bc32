import { words } from '@akin/domain';

/** The texts of one string field of a document, with the column that holds the field. */
export interface FieldTexts {
  readonly column: string;
  readonly texts: readonly string[];
}

/** Positions left free between two values, so that no phrase spans them. */
const VALUE_GAP = 100;
/** PostgreSQL keeps no greater position. Words beyond it are found, but phrases there are not. */
const LAST_POSITION = 16_383;

/**
 * What the column `words` of a document holds, as the text of a tsvector: each word of each string value, and each
 * again under the name of its column for searches in one field.
 * @param vocabulary gets the words too
 */
export function documentWords(fields: Iterable<FieldTexts>, vocabulary?: Set<string>): string {
  const positions = new Map<string, number[]>();
  const add = (lexeme: string, position: number) => {
    const known = positions.get(lexeme);
    if (known === undefined) positions.set(lexeme, [position]);
    else known.push(position);
  };
  let position = 0;
  for (const { column, texts } of fields) {
    for (const text of texts) {
      for (const word of words(text)) {
        position++;
        vocabulary?.add(word);
        add(word, Math.min(position, LAST_POSITION));
        add(fieldWord(column, word), Math.min(position, LAST_POSITION));
      }
      position += VALUE_GAP;
    }
  }
  return [...positions].map(([lexeme, places]) => `${quoteLexeme(lexeme)}:${places.join(',')}`).join(' ');
}

/** The lexeme of a word in one field. No word begins with a colon, so no prefix of a plain word reaches these. */
export function fieldWord(column: string, word: string): string {
  return `:${column}:${word}`;
}

/** A lexeme in the text of a tsvector or tsquery: nothing in it is syntax. */
export function quoteLexeme(lexeme: string): string {
  return /['\\]/.test(lexeme) ? `'${lexeme.replace(/['\\]/g, '$&$&')}'` : `'${lexeme}'`;
}
