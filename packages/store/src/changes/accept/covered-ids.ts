import { parseQuery, type Query } from '@akin/domain';

/** Maximum number of ids of a query that are looked up one by one. */
const MAX_IDS = 1_000;

/** The ids that the query of a delete matches, if it only lists ids. Undefined for any other query. */
export function coveredIds(query: string): string[] | 'all' | undefined {
  return idsOf(parseQuery(query));
}

function idsOf(query: Query): string[] | 'all' | undefined {
  switch (query.kind) {
    case 'all':
      return 'all';
    case 'term':
    case 'phrase':
      return query.field === 'id' ? [query.value] : undefined;
    case 'boost':
    case 'constant':
      return idsOf(query.query);
    case 'bool': {
      if (query.must.length + query.mustNot.length > 0) return undefined;
      const ids = query.should.map(idsOf);
      if (!ids.every((one) => Array.isArray(one)) || ids.length > MAX_IDS) return undefined;
      return [...new Set(ids.flat())];
    }
    default:
      return undefined;
  }
}
