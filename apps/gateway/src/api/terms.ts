import { badRequest, unescapeBackslashes } from '@akin/domain';
import { findCollection, loadSchema } from '@akin/store/database';
import { search } from '@akin/store/search';
import type { HandlerFor } from '../http/serve.ts';
import { named, namedList } from '../search/facets/named-list.ts';
import { presentValue } from '../search/present.ts';
import { clockOf, parameterLookup, readFilters } from '../search/query-parameters.ts';
import { warnAboutDates } from '../search/warn-about-dates.ts';
import { refuseUnsupported } from '../solr/refused-parameters.ts';
import { awaitToken } from '../update/await-token.ts';

export const terms: HandlerFor<'terms'> = async ({ list, parameters, signal }, context) => {
  refuseUnsupported(list);
  const { 'terms.fl': names, 'terms.limit': limit, 'terms.prefix': prefix, 'terms.sort': sort } = parameters;
  const style = parameters['json.nl'];
  if (names.length === 0) throw badRequest('Parameter terms.fl is required: it names the fields.');
  // As in queries, a backslash escapes the next character.
  const fields = [...new Set(names.map(unescapeBackslashes))];
  const filters = readFilters(parameters.fq, parameters, parameterLookup(list)).map(({ query }) => query);
  const collection = await findCollection(context.store, parameters.collection);
  await awaitToken(parameters.after, parameters.afterTimeout, collection, signal, context);
  const facets = fields.map((field) => ({
    kind: 'field' as const,
    field,
    parameter: 'terms.fl',
    limit: limit < 0 ? undefined : limit,
    offset: 0,
    mincount: 1,
    sort,
    prefix: prefix || undefined,
    missing: false,
  }));
  // Nobody asks how many documents match.
  const question = { query: { kind: 'all' } as const, filters, rows: 0, minExactCount: 0, facets, signal };
  const result = await context.semaphores.searches.run(signal, context, () =>
    search(context.store, collection, { ...question, ...clockOf(parameters) }),
  );
  const lists = result.facets.map((facet, i) => {
    const counts = facet.kind === 'field' ? facet.counts : [];
    const list =
      style === 'flat'
        ? counts.flatMap(({ value, count }) => [presentValue(value), count])
        : namedList(counts.map(named), style);
    return [fields[i] as string, list] as const;
  });
  const { fields: known } = await loadSchema(context.store, collection);
  return { warnings: warnAboutDates(filters, known), body: { terms: new Map(lists) } };
};
