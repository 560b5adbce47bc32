import type { Collection } from '../../database/context.ts';
import { remembered } from '../../database/memory.ts';
import type { Store } from '../context.ts';

/*
 * Each collection has a table of the different words of its documents. Words are written before the documents with them
 * become visible, and stay when the last such document is deleted: a superfluous word costs a search only a lookup.
 */

/** Words per statement: some milliseconds on PGlite. */
const BATCH = 1_000;
/** Maximum number of cached words that are known to be in the table; most words of most documents are. */
const REMEMBERED = 50_000;

/** Words that are known to be in the table. */
export const wordsOf = remembered<Set<string>>();

export async function storeWords(store: Store, collection: Collection, words: ReadonlySet<string>): Promise<void> {
  const known = wordsOf(store).get(collection.id) ?? new Set<string>();
  wordsOf(store).set(collection.id, known);
  const added = [...words].filter((word) => !known.has(word)).sort();
  for (let from = 0; from < added.length; from += BATCH) {
    const batch = added.slice(from, from + BATCH);
    await store.engine.query(
      `insert into ${collection.sqlSchema}.words (word) select * from unnest($1::text[]) on conflict do nothing`,
      [batch],
      'bulk',
    );
    if (known.size > REMEMBERED) known.clear();
    for (const word of batch) known.add(word);
  }
}
