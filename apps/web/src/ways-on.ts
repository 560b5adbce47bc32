import type { Collection } from '@akin/client';
import { hasQuerySyntax } from './search-box.ts';
import type { ViewState } from './view-state.ts';

/** Another search for words that no document has. */
export interface WayOn {
  readonly kind: 'prefix' | 'spelling';
  readonly words: string;
  readonly found: number;
}

const MAX_WORDS = 8;

/** Queries for words that begin with these, and for words that differ from them by a letter or two. */
export function otherQueries(text: string): Omit<WayOn, 'found'>[] {
  const words = hasQuerySyntax(text) ? [] : (text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []);
  if (words.length === 0 || words.length > MAX_WORDS) return [];
  const nearly = (word: string) => (word.length < 3 ? word : `${word}~${word.length < 6 ? 1 : 2}`);
  return [
    { kind: 'prefix' as const, words: words.map((word) => `${word}*`).join(' AND ') },
    { kind: 'spelling' as const, words: words.map(nearly).join(' AND ') },
  ];
}

export async function findWaysOn(
  collection: Collection,
  { words }: ViewState,
  fq: readonly string[],
): Promise<WayOn[]> {
  const ways = otherQueries(words).map(async (way) => {
    const { response } = await collection.select({ q: way.words, fq, rows: 0 });
    return { ...way, found: response.numFound };
  });
  return (await Promise.all(ways)).filter(({ found }) => found > 0);
}
