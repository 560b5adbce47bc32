import type { Query } from './query.ts';

/** The names of the fields that a query compares, each as often as it compares them. */
export function* fieldsOf(query: Query): Generator<string> {
  switch (query.kind) {
    case 'all':
    case 'none':
      return;
    case 'bool':
      for (const one of [...query.must, ...query.should, ...query.mustNot]) yield* fieldsOf(one);
      return;
    case 'boost':
    case 'constant':
      yield* fieldsOf(query.query);
      return;
    case 'by-distance':
      yield query.distance.field;
      yield* fieldsOf(query.query);
      return;
    case 'distance':
      yield query.distance.field;
      return;
    default:
      yield query.field;
  }
}
