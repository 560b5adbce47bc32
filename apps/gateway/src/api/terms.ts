import { AkinError, unescapeBackslashes } from '@akin/domain';
import { findCollection, loadSchema, MAX_FACET_VALUES, MAX_FACETS, terms as readTerms } from '@akin/store';
import type { HandlerFor } from '../http/serve.ts';
import { presentValue } from '../search/present.ts';
import { named, namedList } from '../search/present-facets.ts';
import { parameterLookup, readFilters } from '../search/query-parameters.ts';
import { warningsAboutDates } from '../search/warn-about-dates.ts';
import { refuseUnsupported } from '../solr/refused-parameters.ts';
import { awaitToken } from '../update/await-token.ts';

/** Values of fields with their number of documents, in the format of `json.nl`. */
export const terms: HandlerFor<'terms'> = async ({ list, parameters, signal }, context) => {
  refuseUnsupported(list);
  const { 'terms.fl': names, 'terms.limit': limit, 'terms.prefix': prefix, 'terms.sort': sort } = parameters;
  const style = parameters['json.nl'];
  if (names.length === 0) throw new AkinError('bad-request', 'Parameter terms.fl is required: it names the fields.');
  // As in queries, a backslash escapes the next character.
  const fields = new Set(names.map(unescapeBackslashes));
  if (fields.size > MAX_FACETS) {
    throw new AkinError(
      'bad-request',
      `Parameter terms.fl: it has ${fields.size} fields, at most ${MAX_FACETS} are allowed.`,
    );
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
      ...{ field, limit: Math.min(limit < 0 ? left + 1 : limit, left + 1), prefix, sort, filters },
      ...(parameters.NOW === undefined ? {} : { now: new Date(parameters.NOW) }),
      ...(parameters.TZ === undefined ? {} : { timeZone: parameters.TZ }),
    };
    const found = await context.semaphores.searches.run(signal, context, () =>
      readTerms(context.store, collection, wanted),
    );
    values += found.length;
    if (values > MAX_FACET_VALUES) {
      throw new AkinError(
        'bad-request',
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
  return { header: warningsAboutDates(filters, known), body: { terms: lists } };
};
