import type { FoundDocument, SearchResponse } from '@akin/client';
import { facetCountRequest, facetsOf } from './facets.ts';
import { recordOthers } from './filters/one-of-each.ts';
import { dateOrder, periodsOf } from './filters/periods.ts';
import { histogramsOf, loadRanges } from './filters/ranges.ts';
import { updateFields } from './load-collections.ts';
import { isNoResponse } from './messages.ts';
import type { Model } from './model.ts';
import type { PageData } from './page-data.ts';
import { NEXT_PAGE_SIZE, PAGE_SIZE } from './results.ts';
import { predictTags } from './tags.ts';
import { asCurl, searchRequest, tagParameters } from './view-state.ts';
import { VIEWS } from './views.ts';
import { findWaysOn } from './ways-on.ts';
import { MAX_TEXT_MATCHES } from './words.ts';

/**
 * Loads the data for the view of the state.
 *
 * @param rows the number of documents to load
 * @param keep Keep the old results visible until the response: for the same query after the collection has changed.
 */
export async function search(model: Model, start = 0, keep = start > 0, rows = rowsFrom(start)): Promise<void> {
  if (model.state.view !== 'search') return loadView(model, model.state.view, keep);
  // A further page does not end the counts of the first one.
  const { signal } = model.start(start === 0 ? 'view' : 'page');
  const { documents: shownDocuments, textMatches, numFound: shownNumber } = model.pageData;
  // What was shown before stays if akin does not answer.
  let old = keep ? {} : { documents: shownDocuments, textMatches, numFound: shownNumber };
  // An error of something else that the user did stays when results are only loaded again.
  const error = keep && !model.hasSearchError ? model.pageData.error : null;
  const nothing = { documents: [], textMatches: null, numFound: null, waysOn: [] };
  model.hasSearchError = false;
  model.update({ loading: true, error, ...(start === 0 ? { fresh: 0 } : {}), ...(keep ? {} : nothing) });
  if (start === 0) {
    // The next status is that of these results.
    model.shownStatus = null;
    model.shownCommit = model.pageData.status?.commit ?? null;
    model.isComplete = false;
  }
  try {
    const inText = start > 0 ? model.pageData : await findTextMatches(model, signal);
    const before = inText.textMatches === null ? [] : inText.documents.slice(0, inText.textMatches.shown);
    const { endpoint, parameters } = request(model, start - (start > 0 ? before.length : 0), rows);
    if (before.length > 0) parameters.fq = [...model.filters(), excludeFilter(before)];
    if (model.state.query === null) {
      // The cursor prevents duplicates between pages; rankings use `start` instead.
      delete parameters.start;
      parameters.cursorMark = start === 0 ? '*' : (model.pageData.cursor ?? '*');
    }
    const body: SearchResponse = await model.collection[endpoint](parameters, { signal });
    // The user has changed a shown document meanwhile: the answer may be older.
    if (start === 0 && keep && model.pageData.documents !== shownDocuments) return search(model, 0, true, rows);
    const { docs } = body.response;
    recordOthers(body, model.state.filters);
    const documents = [...(start === 0 ? before : model.pageData.documents), ...docs];
    const cursor = body.nextCursorMark ?? null;
    // New documents that sort before the cursor are counted, but never come: an empty page is the end.
    const isEnd = start > 0 && docs.length === 0;
    const numFound = isEnd ? documents.length : body.response.numFound + before.length;
    model.failedStart = null;
    model.update({ documents, numFound, textMatches: inText.textMatches, cursor, loading: false, away: false });
    old = {};
    if (start === 0) await complete(model, signal);
  } catch (error) {
    if (signal.aborted) return;
    if (isNoResponse(error)) {
      model.failedStart = start;
      return model.update({ loading: false, away: true, ...old });
    }
    // Remove the facets of the previous search, because they do not belong to the error.
    const facets = start === 0 ? { facets: [], counting: false } : {};
    model.hasSearchError = true;
    model.update({ loading: false, error: model.messageFor(error), ...facets });
  }
}

/** Loads what belongs to the results and comes after them, which must not wait for it. */
async function complete(model: Model, signal: AbortSignal): Promise<void> {
  await Promise.all([
    countFacets(model, signal),
    tagQuery(model, signal),
    model.pageData.numFound === 0 && findOthers(model, signal),
  ]);
  if (!signal.aborted) model.isComplete = true;
}

/** Completes results that are shown again, if the user had left them before they were complete. */
export async function completeRestored(model: Model): Promise<void> {
  if (model.isComplete) return;
  const { signal } = model.start();
  await complete(model, signal).catch((error) => {
    if (!signal.aborted) model.showError(error);
  });
}

/** Loads another view: its script, then its data. */
async function loadView(model: Model, view: keyof typeof VIEWS, keep: boolean): Promise<void> {
  try {
    await VIEWS[view].load();
  } catch (error) {
    if (model.state.view === view) model.update({ loading: false, error: model.messageFor(error) });
    return;
  }
  // The user may have left it.
  if (model.state.view !== view) return;
  if (view === 'manage') return VIEWS.manage.now?.loadManageState(model);
  if (view === 'changes') return VIEWS.changes.now?.watchChanges(model);
  return VIEWS.groups.now?.loadGroups(model, keep ? 'again' : 'first');
}

export function commandOf(model: Model, hasKey: boolean): string {
  if (model.state.view === 'groups') return VIEWS.groups.now?.groupsCommand(model, hasKey) ?? '';
  const { endpoint, parameters, sendsFile } = shownRequest(model);
  return asCurl(`${location.origin}${model.collection.searchAddress(endpoint, parameters)}`, hasKey, sendsFile);
}

/** The request of the results, and whether it also sends an uploaded picture. */
export function shownRequest(model: Model) {
  const { endpoint, parameters } = request(model, 0);
  const { 'rank.by.data': data, 'rank.by.outputs': outputs, ...others } = parameters;
  return { endpoint, parameters: others, sendsFile: data !== undefined || outputs !== undefined };
}

export function responseText(model: Model): Promise<string> {
  const { endpoint, parameters } = request(model, 0);
  return model.collection.searchText(endpoint, parameters);
}

/** Finds the first documents with the words of the query in their text, if the query asks for these too. */
async function findTextMatches(
  model: Model,
  signal: AbortSignal,
): Promise<Pick<PageData, 'documents' | 'textMatches'>> {
  const { collection, state } = model;
  const { query } = state;
  if (query?.by !== 'text' || query.searchIn !== 'both') return { documents: [], textMatches: null };
  const { parameters } = searchRequest(
    { ...state, query: null, words: query.text },
    0,
    MAX_TEXT_MATCHES,
    model.filters(),
  );
  const { numFound, docs } = (await collection.select(parameters, { signal })).response;
  return { documents: docs, textMatches: { shown: docs.length, found: numFound } };
}

function excludeFilter(documents: readonly FoundDocument[]): string {
  return `-id:(${documents.map(({ id }) => `"${id.replace(/["\\]/g, '\\$&')}"`).join(' OR ')})`;
}

function rowsFrom(start: number): number {
  return start === 0 ? PAGE_SIZE : NEXT_PAGE_SIZE;
}

function request(model: Model, start: number, rows = rowsFrom(start)) {
  return searchRequest(model.state, start, rows, model.filters());
}

async function countFacets(model: Model, signal: AbortSignal): Promise<void> {
  await updateFields(model);
  if (signal.aborted) return;
  const { state, fields, fieldNames, rangeFields } = model;
  model.countedFields = fieldNames;
  if (rangeFields !== null) {
    const bounds = await loadRanges(model.collection, rangeFields, signal);
    if (model.rangeFields === rangeFields) model.rangeFields = null;
    // Displayed together with their counts.
    model.pageData = { ...model.pageData, ranges: bounds };
  }
  const { ranges, facetSearches } = model.pageData;
  if (fields.length + ranges.length === 0) return model.update({ counting: false });
  const order = dateOrder(state.sort, ranges);
  const { endpoint, parameters } = facetCountRequest(state, fields, ranges, facetSearches);
  const body = await model.collection[endpoint](parameters, { signal });
  // The user has asked for other values meanwhile, or there are other fields.
  if (model.pageData.facetSearches !== facetSearches || model.countedFields !== fieldNames) return;
  model.update({
    counting: false,
    facets: facetsOf(body, fields, state.filters, facetSearches),
    histograms: histogramsOf(body, ranges),
    periods: order ? periodsOf(body, order.field) : [],
  });
}

/** Null: the most frequent ones again. */
export function findValues(model: Model, field: string, contains: string | null): void {
  const facetSearches = new Map(model.pageData.facetSearches);
  if (contains === null) facetSearches.delete(field);
  else facetSearches.set(field, contains);
  model.update({ facetSearches });
  countAgain(model);
}

/** Counts the filters of the shown results again. */
export function countAgain(model: Model): void {
  model.isComplete = false;
  const { signal } = model.start('values');
  countFacets(model, signal).catch((error) => {
    if (!signal.aborted) model.showError(error);
  });
}

/** Looks for other searches, if there are no documents with the words. */
async function findOthers(model: Model, signal: AbortSignal): Promise<void> {
  const waysOn = await findWaysOn(model.collection, model.state, model.filters());
  if (!signal.aborted) model.update({ waysOn });
}

async function tagQuery(model: Model, signal: AbortSignal): Promise<void> {
  const input = model.state.query && tagParameters(model.state.query);
  const tags = input ? await predictTags(model.collection, input, signal) : null;
  if (!signal.aborted) model.update({ tags });
}
