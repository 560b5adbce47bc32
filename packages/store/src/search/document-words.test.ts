import { tokenize } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { sharedStore } from '../../test/shared-store.ts';
import { ENGINES } from '../../test/support.ts';
import type { Store } from '../changes/context.ts';
import { documentWords, type FieldTexts, fieldWord, quoteLexeme } from './document-words.ts';

/** The same as text: what PostgreSQL makes of it is the reference. */
function asText(fields: readonly FieldTexts[]): string {
  const places = new Map<string, number[]>();
  let position = 0;
  for (const { column, texts } of fields) {
    for (const text of texts) {
      for (const word of tokenize(text)) {
        position++;
        for (const lexeme of [word, fieldWord(column, word)]) {
          places.set(lexeme, [...(places.get(lexeme) ?? []), Math.min(position, 16_383)]);
        }
      }
      position += 100;
    }
  }
  return [...places].map(([lexeme, positions]) => `${quoteLexeme(lexeme)}:${positions.join(',')}`).join(' ');
}

const CASES: [string, FieldTexts[]][] = [
  ['nothing', []],
  ['no words', [{ column: 'id', texts: ['', '--'] }]],
  [
    'words of several fields, values and scripts, with quotes and backslashes',
    [
      { column: 'id', texts: ["Ada's \\ café 名前は"] },
      { column: 'labels', texts: ['red', 'RED round', 'ａｄａ😀'] },
      { column: 'f1', texts: ['red ada’s café'] },
    ],
  ],
  [
    'a column that comes twice',
    [
      { column: 'f1', texts: ['red'] },
      { column: 'f2', texts: ['red'] },
      { column: 'f1', texts: ['red blue'] },
    ],
  ],
  [
    'a word more often than is kept',
    [
      { column: 'f1', texts: ['the '.repeat(300)] },
      { column: 'f2', texts: ['the'] },
    ],
  ],
  [
    'words behind the last position',
    [
      { column: 'f1', texts: [`${'a b '.repeat(8_200)} end a end`] },
      { column: 'f2', texts: ['end b'] },
    ],
  ],
  ['words as long as they get', [{ column: 'f1', texts: ['é'.repeat(600), '𝒳'.repeat(300)] }]],
];

describe.each(ENGINES)('the words of a document on %s', (kind) => {
  let store: Store;
  sharedStore(kind, async (opened) => {
    store = opened;
  });

  it.each(kind === 'pglite' ? CASES : CASES.slice(2, 5))(
    'are the same in binary format as in text: %s',
    async (_, fields) => {
      const [row] = await store.engine.query<{ binary: string; text: string }>(
        'select $1::tsvector::text as binary, $2::tsvector::text as text',
        [documentWords(fields), asText(fields)],
      );
      expect(row?.binary).toBe(row?.text);
    },
  );
});

it('refuses more words than a document can have, and writes the next document', () => {
  const many = Array.from({ length: 60_000 }, (_, i) => `word${i}`).join(' ');
  expect(() => documentWords([{ column: 'f1', texts: [many] }])).toThrow('too many different words');
  const vocabulary = new Set<string>();
  expect(documentWords([{ column: 'f1', texts: ['a'] }], vocabulary).toString('latin1')).toBe(
    '\0\0\0\x02a\0\0\x01\0\x01:f1:a\0\0\x01\0\x01',
  );
  expect([...vocabulary]).toEqual(['a']);
});
