import type { Params } from './params.ts';
import type { Rank } from './request.ts';
import type { SortKey } from './sort.ts';

/** By ascending distance; the query document comes before its equals. */
export function rankKeys({ firstId }: Rank, params: Params): SortKey[] {
  const distance: SortKey = { sql: null, type: 'float8', descending: false };
  if (firstId === undefined) return [distance];
  return [distance, { sql: `d.id <> ${params.add(firstId, 'text')}`, type: 'boolean', descending: false }];
}
