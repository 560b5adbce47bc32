import type { Params } from './params.ts';
import type { Rank } from './request.ts';
import type { SortKey } from './sort.ts';

/** By ascending distance; the query document comes before its equals. */
export function rankKeys({ firstId }: Rank, params: Params): SortKey[] {
  const distance: SortKey = { sql: null, type: 'float8', descending: false };
  if (firstId === undefined) return [distance];
  return [distance, { sql: `d.id <> ${params.add(firstId, 'text')}`, type: 'boolean', descending: false }];
}

/** The score or distance as a column of a statement. @param value a number is known without it */
export function valueColumn(value: string | number): string {
  return `${typeof value === 'string' ? value : 'null::float8'} as value`;
}

/** By falling score, or by rank. @param value the score or distance, as SQL; a number: all matches have the same one */
export function scoreKeys(value: string | number, rank: Rank | undefined, params: Params): SortKey[] {
  if (typeof value === 'number') return [];
  return rank === undefined ? [{ sql: null, type: 'float8', descending: true }] : rankKeys(rank, params);
}
