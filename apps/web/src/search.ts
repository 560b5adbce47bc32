import type { FoundDocument, SearchResponse } from '@akin/client';
import { countsOf, facetsOf } from './facets.ts';
import { histogramsOf, loadRanges } from './filters/ranges.ts';
import { loadManaged } from './manage/load-managed.ts';
import type { Model } from './model.ts';
import { NEXT_SIZE, PAGE_SIZE } from './results.ts';
import { groupsCommand, loadGroups } from './review/load-groups.ts';
import type { Shown } from './shown.ts';
import { predictTags } from './tags.ts';
import { asCurl, searchOf, tagsOf } from './view-state.ts';
import { watchChanges } from './watch-changes.ts';
import { IN_TEXT_FIRST } from './words.ts';

/**
 * Loads the data for the view of the state.
 *
 * @param keep Keep the old results visible until the response: for the same query after the collection has changed.
 */
export async function search(model: Model, start = 0, keep = start > 0): Promise<void> {
  if (model.state.view === 'manage') return loadManaged(model);
  if (model.state.view === 'changes') return watchChanges(model);
  if (model.state.view === 'groups') return loadGroups(model, keep ? 'again' : 'first');
  const { signal } = model.start();
  finding?.abort();
  model.update({ loading: true, error: null, ...(keep ? {} : { documents: [], inText: null, numFound: null }) });
  try {
    const inText = start > 0 ? model.shown : await findInText(model, signal);
    const before = inText.inText === null ? [] : inText.documents.slice(0, inText.inText.shown);
    const { endpoint, parameters } = request(model, start - (start > 0 ? before.length : 0));
    if (before.length > 0) parameters.fq = [...model.filters(), exceptFor(before)];
    if (model.state.query === null) {
      // The cursor prevents duplicates between pages; rankings use `start` instead.
      delete parameters.start;
      parameters.cursorMark = start === 0 ? '*' : (model.shown.cursor ?? '*');
    }
    const body: SearchResponse = await model.collection[endpoint](parameters, { signal });
    const { docs } = body.response;
    const documents = [...(start === 0 ? before : model.shown.documents), ...docs];
    const cursor = body.nextCursorMark ?? null;
    // New documents that sort before the cursor are counted, but never come: an empty page is the end.
    const isEnd = start > 0 && docs.length === 0;
    const numFound = isEnd ? documents.length : body.response.numFound + before.length;
    model.update({ documents, numFound, inText: inText.inText, cursor, loading: false });
    if (start === 0) await Promise.all([countFacets(model, signal), tagQuestion(model, signal)]);
  } catch (error) {
    // Remove the facets of the previous search, because they do not belong to the error.
    const facets = start === 0 ? { facets: [], counting: false } : {};
    if (!signal.aborted) model.update({ loading: false, error: model.messageFor(error), ...facets });
  }
}

/** The current search as a shell command. */
export function commandOf(model: Model, hasKey: boolean): string {
  if (model.state.view === 'groups') return groupsCommand(model, hasKey);
  const { endpoint, parameters } = request(model, 0);
  if (parameters['rank.by.data']) parameters['rank.by.data'] = 'BASE64';
  return asCurl(`${location.origin}${model.collection.searchAddress(endpoint, parameters)}`, hasKey);
}

/** Finds the first documents with the words of the query in their text, if the query asks for these too. */
async function findInText(model: Model, signal: AbortSignal): Promise<Pick<Shown, 'documents' | 'inText'>> {
  const { collection, state } = model;
  const { query } = state;
  if (query?.by !== 'text' || query.where !== 'both') return { documents: [], inText: null };
  const { parameters } = searchOf({ ...state, query: null, words: query.text }, 0, IN_TEXT_FIRST, model.filters());
  const { numFound, docs } = (await collection.select(parameters, { signal })).response;
  return { documents: docs, inText: { shown: docs.length, found: numFound } };
}

/** A filter that excludes these documents. */
function exceptFor(documents: readonly FoundDocument[]): string {
  return `-id:(${documents.map(({ id }) => `"${id.replace(/["\\]/g, '\\$&')}"`).join(' OR ')})`;
}

function request(model: Model, start: number) {
  return searchOf(model.state, start, start === 0 ? PAGE_SIZE : NEXT_SIZE, model.filters());
}

/** Counts the facets. Called after the results are shown, which must not wait for the counts. */
async function countFacets(model: Model, signal: AbortSignal): Promise<void> {
  const { state, fields, rangeFields } = model;
  if (rangeFields !== null) {
    const bounds = await loadRanges(model.collection, rangeFields, signal);
    if (model.rangeFields === rangeFields) model.rangeFields = null;
    // Displayed together with their counts.
    model.shown = { ...model.shown, ranges: bounds };
  }
  const { ranges, wanted } = model.shown;
  if (fields.length + ranges.length === 0) return model.update({ counting: false });
  const { endpoint, parameters } = countsOf(state, fields, ranges, wanted);
  const body = await model.collection[endpoint](parameters, { signal });
  // The user has asked for other values meanwhile.
  if (model.shown.wanted !== wanted) return;
  model.update({
    counting: false,
    facets: facetsOf(body, fields, state.filters, wanted),
    histograms: histogramsOf(body, ranges),
  });
}

let finding: AbortController | undefined;

/** Lists values of a field that contain a text; null: the most frequent ones again. */
export function findValues(model: Model, field: string, contains: string | null): void {
  const wanted = new Map(model.shown.wanted);
  if (contains === null) wanted.delete(field);
  else wanted.set(field, contains);
  model.update({ wanted });
  finding?.abort();
  const mine = new AbortController();
  finding = mine;
  countFacets(model, mine.signal).catch((error) => {
    if (!mine.signal.aborted) model.showError(error);
  });
}

async function tagQuestion(model: Model, signal: AbortSignal): Promise<void> {
  const input = model.state.query && tagsOf(model.state.query);
  const tags = input ? await predictTags(model.collection, input, signal) : null;
  if (!signal.aborted) model.update({ tags });
}
