import type { Query } from './query.ts';

/** A query and all queries inside it. */
export function* queriesIn(query: Query): Generator<Query> {
  yield query;
  if (query.kind === 'bool') {
    for (const inner of [...query.must, ...query.should, ...query.mustNot]) yield* queriesIn(inner);
  } else if ('query' in query) yield* queriesIn(query.query);
}

/** The names of the fields that a query compares, each as often as it compares them. */
export function fieldsOf(query: Query): string[] {
  return [...queriesIn(query)].flatMap((one) => {
    if ('distance' in one) return [one.distance.field];
    return 'field' in one ? [one.field] : [];
  });
}
