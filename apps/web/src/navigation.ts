import { NO_CHANGES } from './changes/state.ts';
import { openFromUrl } from './details/open.ts';
import { enterEntry, keepResults, nextEntry, placeBeforeReload, restoreResults } from './kept-results.ts';
import { loadCollections, loadFields } from './load-collections.ts';
import type { Model } from './model.ts';
import { NO_REVIEW } from './review/state.ts';
import { NO_RUNS } from './runs/runs.ts';
import { completeRestored, search } from './search.ts';
import { updateStatus, watchStatus } from './status.ts';
import { historyState } from './upload.ts';
import { DEFAULT_COLLECTION, readState, type ViewState, writeState } from './view-state.ts';
import { VIEWS } from './views.ts';

/** The state in the URL, and in the history what is too long for it. */
export function stateOfPage(): ViewState {
  const state = readState(location.href);
  return { ...state, query: history.state?.upload ?? state.query };
}

/** Documents in one request after a reload, at most. */
const MAX_ROWS = 1_000;

/**
 * Opens the collection named in the URL. If there is none and the key does not allow the default one, opens another.
 */
export async function begin(model: Model): Promise<void> {
  const named = new URLSearchParams(location.search).has('collection');
  const listed = loadCollections(model);
  if (!named) await listed;
  const { collections } = model.pageData;
  const [first] = collections;
  if (!named && first !== undefined && !collections.includes(model.state.collection)) {
    model.state = { ...model.state, collection: first };
    history.replaceState(history.state, '', writeState(model.state));
  }
  void watchStatus(model);
  await loadFields(model);
  const { shown, top } = placeBeforeReload();
  const begun = model.state;
  await search(model);
  // After a reload, all pages are shown again, unless the user begins another search meanwhile.
  const isShown = () => haveSameResults(model.state, begun);
  const isBroken = () => model.failedStart !== null || model.pageData.error !== null;
  while (isShown() && !isBroken() && shown > model.pageData.documents.length) {
    const { length } = model.pageData.documents;
    await search(model, length, true, Math.min(MAX_ROWS, shown - length));
    if (model.pageData.documents.length === length) break;
  }
  if (!isShown()) return;
  if (top > 0) requestAnimationFrame(() => scrollTo({ top }));
  if (model.state.opened !== null) await openFromUrl(model).catch((error) => model.showError(error));
}

/** Clears the data of another collection, and loads the one of the state. */
async function openCollection(model: Model): Promise<void> {
  if (await beginCollection(model)) await search(model);
}

/** @returns false if the user has opened another collection meanwhile, which starts its own search */
async function beginCollection(model: Model): Promise<boolean> {
  model.stop();
  model.fields = [];
  model.countedFields = null;
  model.fieldsCommit = null;
  model.update({
    status: null,
    documents: [],
    textMatches: null,
    numFound: null,
    loading: true,
    counting: true,
    facets: [],
    ranges: [],
    facetSearches: new Map(),
    // Another collection may have other documents with the same ids.
    selected: new Set(),
    review: NO_REVIEW,
    changes: NO_CHANGES,
    runs: NO_RUNS,
    fresh: 0,
  });
  const { collection } = model.state;
  await Promise.all([loadFields(model), updateStatus(model)]);
  return collection === model.state.collection;
}

/** Shows another collection, if there is one, in place of the one that will be deleted. */
export async function switchToOtherCollection(model: Model, name: string): Promise<void> {
  const others = model.pageData.collections.filter((one) => one !== name);
  const collection = others.includes(DEFAULT_COLLECTION) ? DEFAULT_COLLECTION : others[0];
  if (name !== model.state.collection || collection === undefined) return;
  model.state = { ...model.state, collection };
  history.replaceState(history.state, '', writeState(model.state));
  // Some views go on loading for as long as they are shown.
  if (await beginCollection(model)) void search(model);
}

function clearResultState(model: Model): void {
  model.forgetPreview();
  const review = { ...model.pageData.review, comparison: null };
  model.pageData = {
    ...model.pageData,
    request: null,
    sideBySide: null,
    menuVisible: false,
    opened: null,
    tags: null,
    analyzing: false,
    selected: new Set(),
    review,
  };
}

/** Shows another state, which becomes an entry of the browser's history. */
export function navigate(model: Model, change: Partial<ViewState>): void {
  keepResults(model);
  model.state = { ...model.state, opened: null, ...change };
  clearResultState(model);
  pushEntry(model);
  scrollTo({ top: 0 });
  void search(model);
}

export function showCollection(model: Model, collection: string): void {
  keepResults(model);
  model.state = { ...model.state, collection, query: null, words: '', filters: [], sort: '', opened: null };
  clearResultState(model);
  pushEntry(model);
  void openCollection(model);
}

export function pushEntry(model: Model, change: { readonly details?: true } = {}): void {
  history.pushState({ ...historyState(model.state.query), ...nextEntry(), ...change }, '', writeState(model.state));
}

function haveSameResults(one: ViewState, other: ViewState): boolean {
  const hasSameUrl = writeState({ ...one, opened: null }) === writeState({ ...other, opened: null });
  // An uploaded picture may be too long for the URL.
  const dataOf = ({ query }: ViewState) => (query?.by === 'data' ? query.data : undefined);
  return hasSameUrl && dataOf(one) === dataOf(other);
}

export function watchHistory(model: Model): void {
  addEventListener('popstate', () => {
    const before = model.state;
    keepResults(model);
    const state = stateOfPage();
    model.state = state;
    VIEWS.groups.now?.closeDialogs();
    // Its answer would concern what was shown before.
    document.querySelector<HTMLDialogElement>('dialog:is(.ask, .region)')?.close();
    if (haveSameResults(state, before)) {
      model.state = { ...before, opened: state.opened };
      enterEntry(history.state);
      void openFromUrl(model).catch((error) => model.showError(error));
      return;
    }
    clearResultState(model);
    const isSame = state.collection === before.collection;
    const isRestored = restoreResults(model, history.state) && isSame && state.view === 'search';
    if (isRestored) void completeRestored(model);
    void (isRestored ? Promise.resolve() : isSame ? search(model) : openCollection(model))
      .then(() => openFromUrl(model))
      .catch((error) => model.showError(error));
  });
}
