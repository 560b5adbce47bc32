import { readLocalValue, withErrorContext } from '@akin/domain';
import { readQuery } from '../query-parameters.ts';
import { excludedBy, type FacetKind } from './facet-kind.ts';

/** The matches that also match another query. */
export const QUERY_FACET: FacetKind<'query'> = {
  parameter: 'facet.query',
  section: 'facet_queries',

  read(text, { tagged, options, parameter }) {
    const { local } = withErrorContext(this.parameter, () => readLocalValue(text, parameter));
    const query = readQuery(this.parameter, text, options, parameter);
    return {
      key: local.get('key') ?? text,
      request: { kind: 'query', query, excludedQueries: excludedBy(local, tagged) },
      isUncached: local.get('cache') === 'false',
    };
  },

  present: ({ count }) => count,
};
