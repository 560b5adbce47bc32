import { MAX_ROWS } from '@akin/contract';
import { badRequest, type FieldValue, VERSION_FIELD } from '@akin/domain';
import { currentVersions } from '@akin/store/changes';
import { getDocuments } from '@akin/store/search';
import type { HandlerFor } from '../http/serve.ts';
import { computeFromCache } from '../search/compute-from-cache.ts';
import { fieldNames, readFieldList } from '../search/field-list.ts';
import { presentDocument } from '../search/present.ts';
import { parameterLookup } from '../search/query-parameters.ts';
import { refuseUnsupported } from '../solr/refused-parameters.ts';
import { awaitTokenOrStandby } from '../update/await-token.ts';

export const get: HandlerFor<'get'> = async ({ parameters, list, signal }, context) => {
  refuseUnsupported(list);
  refuseFilters(list);
  const ids = [...parameters.id, ...parameters.ids.flatMap((text) => text.split(',').map((id) => id.trim()))];
  const wanted = [...new Set(ids.filter((id) => id !== ''))];
  if (wanted.length === 0) throw badRequest('Parameter id is required, or ids with several ids separated by commas.');
  if (wanted.length > MAX_ROWS) {
    throw badRequest(`Parameters id and ids name ${wanted.length} documents: send at most ${MAX_ROWS}.`);
  }
  const fields = readFieldList(parameters.fl, false, parameterLookup(list));
  const { after, afterTimeout } = parameters;
  const { collection, shown, names, hidden } = await computeFromCache(
    parameters.collection,
    context,
    false,
    async (collection, schema) => {
      const atLeast = await awaitTokenOrStandby(after, afterTimeout, collection, signal, context);
      const chosen = fieldNames(fields, schema.fields);
      // Without the id, the response could not be ordered.
      const found = await getDocuments(context.store, collection, wanted, [...chosen.names, 'id'], atLeast);
      return { value: { ...chosen, collection, shown: found.documents }, collection: found.collection };
    },
  );
  const versioned = names.includes(VERSION_FIELD);
  const versions = versioned ? await currentVersions(context.store, collection, wanted) : new Map<string, bigint>();
  const found = new Map([...shown].map(([id, document]) => [id, new Map<string, FieldValue>(document)]));
  // The version is that of the last accepted change. Everything else is as of the last commit.
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

/** A filter would have left documents out. To ignore it would return documents that the client did not want. */
function refuseFilters(list: Parameters<typeof refuseUnsupported>[0]): void {
  if (!list.some(([name, value]) => name === 'fq' && value.trim() !== '')) return;
  throw badRequest('/get does not take fq: use /select with q=id:….');
}
