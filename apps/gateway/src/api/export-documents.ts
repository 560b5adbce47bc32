import { formatThumbnail, stringifyJson, typeName } from '@akin/domain';
import { findCollection, loadSchema } from '@akin/store/database';
import { definedFields, type ExportedDocument, exportDocuments as exportPage } from '@akin/store/search';
import type { HandlerFor } from '../http/serve.ts';
import { presentValue } from '../search/present.ts';
import { parameterLookup, readFilters, readQuery } from '../search/query-parameters.ts';
import { warnAboutDates } from '../search/warn-about-dates.ts';

/** Approximate maximum size of a page; one more document may follow. */
const PAGE_BYTES = 4 * 1024 ** 2;

export const exportDocuments: HandlerFor<'exportDocuments'> = async (
  { parameters, list, signal },
  { store, semaphores, client },
) => {
  const { q, fq, rows, cursor, TZ: timeZone } = parameters;
  const parameter = parameterLookup(list);
  const filters = readFilters(fq, parameters, parameter).map((filter) => filter.query);
  const query = readQuery('q', q, parameters, parameter);
  const collection = await findCollection(store, parameters.collection);
  const wanted = {
    query,
    filters,
    rows,
    cursor,
    bytes: PAGE_BYTES,
    ...(timeZone === undefined ? {} : { timeZone }),
  };
  const page = await semaphores.searches.run(signal, { client }, () => exportPage(store, collection, wanted));
  const lines = page.documents.map(lineOf);
  if (cursor === undefined) {
    const fields = [...(await definedFields(store, collection))].map(([name, type]) => [name, typeName(type)] as const);
    const schema = await loadSchema(store, collection);
    const warnings = warnAboutDates([query, ...filters], schema.fields);
    const header = {
      format: 1,
      collection: collection.name,
      commit: page.commit,
      fields: new Map(fields),
      warnings: warnings.length > 0 ? warnings : undefined,
    };
    lines.unshift(stringifyJson({ 'akin-export': header }));
  }
  return {
    type: 'application/x-ndjson; charset=utf-8',
    bytes: lines.map((line) => `${line}\n`).join(''),
    headers: {
      'cache-control': 'no-store',
      'x-akin-commit': String(page.commit),
      ...(page.next === undefined ? {} : { 'x-akin-cursor': page.next }),
    },
  };
};

function lineOf({ fields, outputs, thumbnail }: ExportedDocument): string {
  const members = new Map<string, unknown>();
  for (const [name, value] of fields) members.set(name, presentValue(value));
  if (outputs !== null) members.set('import', outputs);
  if (thumbnail !== null) members.set('thumbnail', formatThumbnail(thumbnail));
  return stringifyJson(members);
}
