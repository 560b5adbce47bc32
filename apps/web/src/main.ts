import { createClient, type FoundDocument } from '@akin/client';
import { render } from 'lit-html';
import type { Actions } from './actions.ts';
import { addFiles, addFilesAgain, askToAdd } from './add/add-files.ts';
import { failedFilesOf } from './add/add-pictures.ts';
import { droppedFiles, holdsFolder } from './add/files.ts';
import { askUser, cancelDialog } from './ask-user.ts';
import { copySelected, labelSelected } from './bulk-actions.ts';
import { saveCardFields } from './card-fields.ts';
import { NO_CHANGES } from './changes.ts';
import { copyText } from './copy-text.ts';
import { deleteDocuments } from './deleting.ts';
import { showModal } from './details/details.ts';
import { addLabel, askForLabel, editField, editTitle, removeLabel } from './details/edit.ts';
import { neighbour, openFromUrl, showDetails } from './details/open.ts';
import { filterText } from './facets.ts';
import { watchDrag } from './grid/drag.ts';
import { moveFocus } from './grid/focus.ts';
import { updateGrids, watchGrids } from './grid/grid.ts';
import { saveLayout } from './grid/layout.ts';
import { showHelp } from './help.ts';
import { enterEntry, keepPlace, keepResults, nextEntry, placeBeforeReload, restoreResults } from './kept-results.ts';
import { forgetKey, keyOfTab } from './key.ts';
import { clearDemo, createCollection, createKey, dropCollection, revokeKey } from './manage/manage-actions.ts';
import { Model } from './model.ts';
import { page } from './page.ts';
import { showRequest } from './request/show-request.ts';
import { showCompared } from './review/compare.ts';
import { membersAbove } from './review/files.ts';
import { handleReviewKey } from './review/keys.ts';
import { choose, loadGroups, markAllExcept, moreMembers, separate, setMinScore } from './review/load-groups.ts';
import { takeovers } from './review/merge.ts';
import { askForDelete, closeDialogs } from './review/review.ts';
import { NO_REVIEW } from './review/state.ts';
import { NO_RUNS } from './runs/runs.ts';
import { dismissRun, retryRun } from './runs/watch-runs.ts';
import { forgetSearch, saveSearch } from './saved.ts';
import { commandOf, findValues, search } from './search.ts';
import { readSearchBox } from './search-box.ts';
import { select, selectBetween } from './selection.ts';
import { loadCollections, loadFields, updateStatus, watchStatus } from './status.ts';
import { TEXTS } from './texts.ts';
import { pauseUndoTimer, restartUndoTimer, undoLast } from './undo.ts';
import { historyState, queryOfFile } from './upload.ts';
import { DEFAULT_COLLECTION, type Query, readState, type ViewState, writeState } from './view-state.ts';
import { loadMoreChanges, retryChanges } from './watch-changes.ts';
import { canRankByText, wordsOf } from './words.ts';

/** The state in the URL, and in the history what is too long for it. */
function stateOfPage(): ViewState {
  const state = readState(location.href);
  return { ...state, query: state.query ?? history.state?.upload ?? null };
}

/** Pictures of one search by examples: more would hardly change the mean. */
const MAX_EXAMPLES = 20;

const key = keyOfTab();
const root = document.getElementById('app') as HTMLElement;
const model = new Model(
  createClient({ baseUrl: '', retries: 0, ...(key === undefined ? {} : { key }) }),
  stateOfPage(),
  draw,
);

let isDrawn = false;
function draw(): void {
  // The header and the empty cards of the HTML.
  if (!isDrawn) root.replaceChildren();
  isDrawn = true;
  const focused = document.activeElement;
  render(page(model.state, model.pageData, actions, commandOf(model, key !== undefined), model.collection), root);
  showModal();
  showCompared();
  updateGrids();
  // A button that the user has pressed may be gone. The keyboard goes on with the results.
  const isLost = focused !== null && !focused.isConnected && document.activeElement === document.body;
  if (isLost) document.getElementById('results')?.focus({ preventScroll: true });
}

/**
 * Opens the collection named in the URL. If there is none and the key does not allow the default one, opens another.
 */
async function begin(): Promise<void> {
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
  await search(model);
  // After a reload, all pages are shown again.
  while (shown > model.pageData.documents.length && model.failedStart === null && model.pageData.error === null) {
    const { length } = model.pageData.documents;
    await search(model, length, true, Math.min(MAX_ROWS, shown - length));
    if (model.pageData.documents.length === length) break;
  }
  if (top > 0) requestAnimationFrame(() => scrollTo({ top }));
  if (model.state.opened !== null) await openFromUrl(model);
}

/** Documents in one request after a reload, at most. */
const MAX_ROWS = 1_000;

/** Clears the data of another collection, and loads the one of the state. */
async function openCollection(): Promise<void> {
  model.stop();
  model.fields = [];
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
  // If the user has opened another collection meanwhile, that has started its own search.
  if (collection === model.state.collection) await search(model);
}

/** Shows another collection, if there is one, in place of the one that will be deleted. */
async function switchToOtherCollection(name: string): Promise<void> {
  const others = model.pageData.collections.filter((one) => one !== name);
  const collection = others.includes(DEFAULT_COLLECTION) ? DEFAULT_COLLECTION : others[0];
  if (name !== model.state.collection || collection === undefined) return;
  model.state = { ...model.state, collection };
  history.replaceState(history.state, '', writeState(model.state));
  await openCollection();
}

/** Forgets what belongs only to the results that the user leaves. */
function clearResultState(): void {
  model.forgetPreview();
  const review = { ...model.pageData.review, comparison: null };
  model.pageData = {
    ...model.pageData,
    request: null,
    menuVisible: false,
    opened: null,
    tags: null,
    analyzing: false,
    selected: new Set(),
    review,
  };
}

function navigate(change: Partial<ViewState>): void {
  keepResults(model);
  model.state = { ...model.state, opened: null, ...change };
  clearResultState();
  pushEntry();
  scrollTo({ top: 0 });
  void search(model);
}

/** Adds an entry for the state to the browser's history. */
function pushEntry(change: { readonly details?: true } = {}): void {
  history.pushState({ ...historyState(model.state.query), ...nextEntry(), ...change }, '', writeState(model.state));
}

const actions: Actions = {
  showCollection(collection) {
    keepResults(model);
    model.state = { ...model.state, collection, query: null, words: '', filters: [], sort: '', opened: null };
    clearResultState();
    pushEntry();
    void openCollection();
  },
  searchBy: (query: Query | null, mode) =>
    navigate({
      view: 'search',
      query,
      mode: mode ?? model.state.mode,
      examples: [],
      minScore: 0,
      ...(query ? { words: '' } : {}),
    }),
  setMode: (mode) => navigate({ mode }),
  setWords(text) {
    const asked = readSearchBox(text);
    if ('words' in asked) actions.searchByText(asked.words);
    else actions.searchBy(asked.query, asked.query.by === 'hex' ? 'color' : undefined);
  },
  searchByText(asked, searchIn = 'both') {
    const text = asked.trim();
    if (searchIn !== 'text' && canRankByText(text, model.pageData)) {
      navigate({
        view: 'search',
        words: '',
        query: { by: 'text', text, searchIn },
        mode: 'content',
        examples: [],
        minScore: 0,
      });
    } else navigate({ view: 'search', words: text, query: null });
  },
  setExample(id, sign) {
    const others = model.state.examples.filter((one) => one.id !== id);
    navigate({ examples: sign === null ? others : [...others, { id, sign }] });
  },
  setThreshold: (minScore) => navigate({ minScore }),
  select: (id, how) => select(model, id, how),
  clearSelection: () => model.update({ selected: new Set() }),
  async deleteSelected() {
    if (!(await deleteDocuments(model, [...model.pageData.selected]))) return;
    model.update({ selected: new Set() });
    await search(model, 0, true);
  },
  async labelSelected() {
    if (!(await labelSelected(model))) return;
    model.update({ selected: new Set() });
    await search(model, 0, true);
  },
  copySelected: () => copySelected(model),
  searchBySelected() {
    const [first, ...others] = [...model.pageData.selected].slice(0, MAX_EXAMPLES);
    if (first === undefined) return;
    const examples = others.map((id) => ({ id, sign: 'more' as const }));
    model.update({ selected: new Set() });
    navigate({ view: 'search', words: '', query: { by: 'id', id: first }, mode: 'content', examples, minScore: 0 });
  },
  editTitle: (document) => editTitle(model, document),
  editField: (document, field) => editField(model, document, field),
  addLabel: (document, label) =>
    label === undefined ? askForLabel(model, document) : addLabel(model, document, label),
  removeLabel: (document, label) => removeLabel(model, document, label),
  async deleteOpened(document) {
    if (!(await deleteDocuments(model, [document.id]))) return;
    actions.open(null);
    await search(model, 0, true);
  },
  async saveSearch() {
    const { filters } = model.state;
    const value = [wordsOf(model.state), ...filters.map(filterText)].filter(Boolean).join(', ').slice(0, 100);
    const { ask: title, action, name } = TEXTS.saved;
    const answer = await askUser({ title, action, input: { label: name, value } });
    if (answer) model.update({ saved: saveSearch({ name: answer.text, address: writeState(model.state) }) });
  },
  forgetSearch: (name) => model.update({ saved: forgetSearch(name) }),
  showHelp,
  showFresh() {
    scrollTo({ top: 0 });
    void search(model, 0, true);
  },
  askAgain: () => void updateStatus(model),
  removeFilter: (filter) => navigate({ filters: model.state.filters.filter((one) => one !== filter) }),
  setFilters: (filters) => navigate({ filters: [...filters] }),
  setOrder: (sort) => navigate({ sort }),
  findValues: (field, contains) => findValues(model, field, contains),
  addFilter: (filter) => navigate({ filters: [...new Set([...model.state.filters, filter])] }),
  showRequest: (form) => void showRequest(model, form, key !== undefined),
  setCardFields(cardFields) {
    saveCardFields(model.state.collection, cardFields);
    model.update({ cardFields });
  },
  setLayout(layout) {
    saveLayout(layout);
    model.update({ layout });
  },
  setCurrent: (current) => current !== model.pageData.current && model.update({ current }),
  showMenu: (menuVisible) => model.update({ menuVisible }),
  showFacets: (filtersVisible) => model.update({ filtersVisible }),
  loadMore() {
    if (model.pageData.loading) return;
    if (model.state.view === 'changes') void loadMoreChanges(model);
    else
      void (model.state.view === 'groups' ? loadGroups(model, 'next') : search(model, model.pageData.documents.length));
  },
  // All groups: the filters of a search would hide some members.
  reviewGroups: () => navigate({ view: 'groups', query: null, words: '', filters: [] }),
  showManage: () => navigate({ view: 'manage', query: null }),
  createCollection: (name) => void createCollection(model, name),
  dropCollection: (name) => void dropCollection(model, name, switchToOtherCollection),
  clearDemo: () => void clearDemo(model),
  createKey: (key) => void createKey(model, key),
  revokeKey: (id, name) => void revokeKey(model, id, name),
  forgetKey() {
    forgetKey();
    location.reload();
  },
  async addFiles(files) {
    await addFiles(model, files);
  },
  showChanges: () => navigate({ view: 'changes', query: null }),
  retry: (what) => void retryChanges(model, what),
  openRun: (opened) => model.update({ runs: { ...model.pageData.runs, opened } }),
  retryRun(id) {
    const files = failedFilesOf(id);
    if (files) void addFilesAgain(model, id, files);
    else void retryRun(model, id);
  },
  dismissRun: (id) => void dismissRun(model, id),
  markForDeletion: (ids, isChosen) => choose(model, ids, isChosen),
  markAllExcept: (keep, id) => markAllExcept(model, keep, id),
  markAsDifferent: (id) => separate(model, id),
  setMinScore: (minScore) => setMinScore(model, minScore),
  compare: (comparison) => model.update({ review: { ...model.pageData.review, comparison } }),
  loadMoreMembers: (id) => moreMembers(model, id),
  askForDelete() {
    history.pushState({ asks: true }, '');
    askForDelete();
  },
  answered() {
    if (history.state?.asks) history.back();
  },
  async deleteMarked(isMerging) {
    model.update({ review: { ...model.pageData.review, deleting: true } });
    const { groups, minScore, marked: ids } = model.pageData.review;
    const members = isMerging ? groups.map((group) => membersAbove(group, minScore)) : [];
    const isDone = await deleteDocuments(model, [...ids], takeovers(members, ids));
    const marked = isDone ? new Set<string>() : model.pageData.review.marked;
    model.update({ review: { ...model.pageData.review, marked, deleting: false } });
    if (isDone) await search(model, 0, true);
  },
  async undo() {
    if (await undoLast(model)) await search(model, 0, true);
  },
  forgetUndo: () => model.update({ undoable: null }),
  pauseUndoTimer,
  restartUndoTimer: () => restartUndoTimer(model),
  open(document: FoundDocument | null) {
    if (document) {
      model.state = { ...model.state, opened: document.id };
      keepResults(model);
      pushEntry({ details: true });
      showDetails(model, document);
    } else if (history.state?.details) {
      history.back();
    } else {
      model.state = { ...model.state, opened: null };
      history.replaceState(history.state, '', writeState(model.state));
      model.update({ opened: null });
    }
  },
  async step(by) {
    const more = () =>
      model.state.view === 'search' && model.pageData.documents.length < (model.pageData.numFound ?? 0)
        ? search(model, model.pageData.documents.length)
        : Promise.resolve();
    const document = await neighbour(model, by, more);
    if (!document || model.state.opened === null) return;
    model.state = { ...model.state, opened: document.id };
    history.replaceState(history.state, '', writeState(model.state));
    showDetails(model, document);
  },
  async upload(file) {
    model.forgetPreview();
    const preview = URL.createObjectURL(file);
    model.update({ error: null, preview, opened: null, analyzing: true });
    scrollTo({ top: 0 });
    // If the user has left the view, the response is not needed.
    const isWanted = () => model.pageData.analyzing && model.pageData.preview === preview;
    try {
      const query = await queryOfFile(model.collection, file);
      if (isWanted()) navigate({ view: 'search', query, words: '', examples: [], minScore: 0 });
    } catch (error) {
      if (!isWanted()) return;
      model.forgetPreview();
      model.update({ analyzing: false, error: model.messageFor(error) });
    }
  },
  copy: copyText,
};

addEventListener('popstate', () => {
  const before = model.state;
  keepResults(model);
  const state = stateOfPage();
  model.state = state;
  closeDialogs();
  // Its response would concern what was shown before.
  cancelDialog();
  const hasSameUrl = writeState({ ...state, opened: null }) === writeState({ ...before, opened: null });
  // An uploaded picture may be too long for the URL.
  const dataOf = ({ query }: ViewState) => (query?.by === 'data' ? query.data : undefined);
  if (hasSameUrl && dataOf(state) === dataOf(before)) {
    model.state = { ...before, opened: state.opened };
    enterEntry(history.state);
    void openFromUrl(model).catch((error) => model.showError(error));
    return;
  }
  clearResultState();
  const isSame = state.collection === before.collection;
  const isRestored = restoreResults(model, history.state) && isSame && state.view === 'search';
  void (isRestored ? Promise.resolve() : isSame ? search(model) : openCollection())
    .then(() => openFromUrl(model))
    .catch((error) => model.showError(error));
});
addEventListener('keydown', (event) => {
  const target = event.target as HTMLElement;
  if (!event.ctrlKey && !event.metaKey && !event.altKey && moveFocus(event)) event.preventDefault();
  const isTyping = target.closest('input:not([type="checkbox"]), select, textarea, dialog');
  if (!event.ctrlKey && !event.metaKey && !event.altKey && !isTyping && handleGlobalKey(event)) event.preventDefault();
  const isElsewhere =
    event.ctrlKey || event.metaKey || event.altKey || target.closest('input, select, textarea, dialog');
  if (isElsewhere || model.state.view !== 'groups') return;
  if (handleReviewKey(event.key, actions)) event.preventDefault();
});
/** Handles keys that are the same in all views. @returns whether the key was handled */
function handleGlobalKey({ key, shiftKey, target }: KeyboardEvent): boolean {
  const { id } = (target as Element).closest<HTMLElement>('.results .card')?.dataset ?? {};
  if (key === 'Escape') return closeMenuOrSelection();
  if (key === '?') showHelp();
  else if (key === '/') document.querySelector<HTMLInputElement>('header input[type="search"]')?.focus();
  else if (key.toLowerCase() === 'x' && id !== undefined) actions.select(id, { range: shiftKey });
  else return false;
  return true;
}
/** Closes an open menu, or else clears the selection. @returns whether there was any */
function closeMenuOrSelection(): boolean {
  const menu = document.querySelector<HTMLDetailsElement>('details.menu[open]');
  const { menuVisible, selected } = model.pageData;
  if (menu === null && !menuVisible && selected.size === 0) return false;
  if (menuVisible) actions.showMenu(false);
  else if (menu === null) actions.clearSelection();
  else {
    menu.open = false;
    menu.querySelector('summary')?.focus();
  }
  return true;
}
addEventListener('paste', (event) => {
  const file = [...(event.clipboardData?.files ?? [])].find((one) => one.type.startsWith('image/'));
  if (file) void actions.upload(file);
});
/** Text that is dragged onto an input: the browser itself puts it there. */
function isTextForInput({ target, dataTransfer }: DragEvent): boolean {
  return (target as Element).closest('input') !== null && dataTransfer?.types.includes('Files') === false;
}
addEventListener('dragover', (event) => {
  if (isTextForInput(event)) return;
  event.preventDefault();
  document.body.classList.add('dropping');
});
addEventListener('dragleave', (event) => {
  if (!event.relatedTarget) document.body.classList.remove('dropping');
});
addEventListener('drop', (event) => {
  if (isTextForInput(event)) return;
  event.preventDefault();
  document.body.classList.remove('dropping');
  const { dataTransfer } = event;
  if (dataTransfer === null) return;
  const file = dataTransfer.files[0];
  const address = dataTransfer.getData('text/uri-list');
  // A single dropped picture is searched for. In an empty collection it is added instead.
  const isToAdd = dataTransfer.files.length > 1 || holdsFolder(dataTransfer) || model.pageData.status?.documents === 0;
  if (file && isToAdd) {
    void droppedFiles(dataTransfer)
      .then((dropped) => askToAdd(model, dropped))
      .catch((error) => model.showError(error));
  } else if (file) void actions.upload(file);
  else if (address.startsWith('http')) actions.searchBy({ by: 'url', url: address });
});
watchDrag(() => {
  const before = model.pageData.selected;
  return (from, to) => selectBetween(model, before, from, to);
});
watchGrids(draw, () => model.pageData.error === null && !model.pageData.away && actions.loadMore());
// The page itself restores the place, when the results are there.
history.scrollRestoration = 'manual';
enterEntry(history.state);
history.replaceState({ ...history.state, ...(history.state?.entry ? {} : nextEntry()) }, '');
addEventListener('pagehide', () => keepPlace(model));
void begin();
