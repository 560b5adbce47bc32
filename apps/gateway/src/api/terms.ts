import { badRequest, unescapeBackslashes } from '@akin/domain';
import { findCollection, loadSchema } from '@akin/store/database';
import { MAX_FACET_VALUES, MAX_FACETS, terms as readTerms } from '@akin/store/search';
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
  const fields = new Set(names.map(unescapeBackslashes));
  if (fields.size > MAX_FACETS) {
    throw badRequest(`Parameter terms.fl: it has ${fields.size} fields, at most ${MAX_FACETS} are allowed.`);
  }
  const filters = readFilters(parameters.fq, parameters, parameterLookup(list)).map(({ query }) => query);
  const collection = await findCollection(context.store, parameters.collection);
  await awaitToken(parameters.after, parameters.afterTimeout, collection, signal, context);
  const lists = new Map<string, unknown>();
  let values = 0;
  for (const field of fields) {
    const left = MAX_FACET_VALUES - values;
    // One more, to see whether there are more.
    const wanted = {
      field,
      limit: Math.min(limit < 0 ? left + 1 : limit, left + 1),
      prefix,
      sort,
      filters,
      ...clockOf(parameters),
    };
    const found = await context.semaphores.searches.run(signal, context, () =>
      readTerms(context.store, collection, wanted),
    );
    values += found.length;
    if (values > MAX_FACET_VALUES) {
      throw badRequest(
        `The fields have more than ${MAX_FACET_VALUES} values together: set terms.limit or terms.prefix, or ask for fewer fields.`,
      );
    }
    lists.set(
      field,
      style === 'flat'
        ? found.flatMap(({ value, count }) => [presentValue(value), count])
        : namedList(found.map(named), style),
    );
  }
  const { fields: known } = await loadSchema(context.store, collection);
  return { warnings: warnAboutDates(filters, known), body: { terms: lists } };
};
