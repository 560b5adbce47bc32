import { type Endpoints, MAX_ROWS, type ParametersOf } from '@akin/contract';
import { AkinError, type FieldValue, type Query, VERSION_FIELD } from '@akin/domain';
import { currentVersions, findCollection, loadSchema, search } from '@akin/store';
import type { Handler } from '../http/serve.ts';
import { fieldNames } from '../search/answer-search.ts';
import { readFieldList } from '../search/field-list.ts';
import { presentDocument } from '../search/present.ts';
import { lookupIn } from '../search/query-parameters.ts';
import { refuseUnsupported } from '../solr/refused-parameters.ts';
import { awaitToken } from '../update/await-token.ts';

/** Documents by their ids, in the order in which these were given. */
export const get: Handler<ParametersOf<Endpoints['get']>> = async ({ parameters, list, signal }, context) => {
  refuseUnsupported(list);
  refuseFilters(list);
  const ids = [...parameters.id, ...parameters.ids.flatMap((text) => text.split(',').map((id) => id.trim()))];
  const wanted = [...new Set(ids.filter((id) => id !== ''))];
  if (wanted.length === 0)
    throw new AkinError('bad-request', 'Parameter id is required, or ids with several ids, separated by commas.');
  if (wanted.length > MAX_ROWS) {
    throw new AkinError(
      'bad-request',
      `Parameters id and ids name ${wanted.length} documents: ask for ${MAX_ROWS} at most.`,
    );
  }
  const fields = readFieldList(parameters.fl, false, lookupIn(list));
  const collection = await findCollection(context.store, parameters.collection);
  await awaitToken(parameters.after, parameters.afterTimeout, collection, signal, context);
  const { names, hidden } = fieldNames(fields, await loadSchema(context.store, collection));
  const { hits } = await search(context.store, collection, {
    query: anyOf(wanted),
    filters: [],
    sort: [],
    start: 0,
    rows: wanted.length,
    // Without the id an answer could not be put in order.
    fields: [...names, 'id'],
    distances: [],
    scores: false,
    facets: [],
  });
  const versioned = names.includes(VERSION_FIELD);
  const versions = versioned ? await currentVersions(context.store, collection, wanted) : new Map<string, bigint>();
  const found = new Map(
    hits.map((hit) => [hit.document.get('id') as string, new Map<string, FieldValue>(hit.document)]),
  );
  // The version is told at once, all else as of the last commit.
  for (const document of found.values()) document.delete(VERSION_FIELD);
  for (const [id, version] of versions)
    found.set(id, (found.get(id) ?? new Map<string, FieldValue>([['id', id]])).set(VERSION_FIELD, version));
  const idHidden = !names.includes('id') && !names.includes('*');
  const documents = new Map(
    [...found].map(([id, document]) => [
      id,
      presentDocument(
        { document, score: undefined, distances: [] },
        fields,
        idHidden ? new Set([...hidden, 'id']) : hidden,
      ),
    ]),
  );
  if (parameters.ids.length === 0 && parameters.id.length === 1) {
    return { body: { doc: documents.get(wanted[0] as string) ?? null } };
  }
  const docs = wanted.flatMap((id) => documents.get(id) ?? []);
  return { body: { response: { numFound: docs.length, start: 0, numFoundExact: true, docs } } };
};

function anyOf(ids: readonly string[]): Query {
  const should = ids.map((value): Query => ({ kind: 'term', field: 'id', value, operator: 'OR', position: 0 }));
  return { kind: 'bool', must: [], should, mustNot: [] };
}

/** A filter would have left documents out, so that ignoring it gives away what the client did not want. */
function refuseFilters(list: Parameters<typeof refuseUnsupported>[0]): void {
  if (!list.some(([name, value]) => name === 'fq' && value.trim() !== '')) return;
  throw new AkinError('bad-request', '/get does not take fq: use /select with q=id:….');
}
