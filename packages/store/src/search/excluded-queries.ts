import type { Query } from '@akin/domain';

/** The queries whose matches alone a query leaves out of everything. Undefined: it asks for something else. */
export function excludedQueries(query: Query): readonly Query[] | undefined {
  if (query.kind === 'boost' || query.kind === 'constant') return excludedQueries(query.query);
  if (query.kind !== 'bool') return undefined;
  const { must, should, mustNot } = query;
  const [first, ...others] = [...must, ...should];
  if (first === undefined) return undefined;
  if (mustNot.length === 0) return others.length === 0 ? excludedQueries(first) : undefined;
  return [first, ...others].every(({ kind }) => kind === 'all') ? mustNot : undefined;
}
