import { createClient, type FoundDocument } from '@akin/client';
import { render } from 'lit-html';
import type { Actions } from './actions.ts';
import { addFiles, addFilesAgain, askToAdd } from './add/add-files.ts';
import { failedFilesOf } from './add/add-pictures.ts';
import { droppedFiles, holdsFolder } from './add/files.ts';
import { askUser, cancelQuestion } from './ask-user.ts';
import { NO_CHANGES } from './changes.ts';
import { copyText } from './copy-text.ts';
import { deleteDocuments } from './deleting.ts';
import { showModal } from './details/details.ts';
import { followAddress, neighbour, showDetails } from './details/open.ts';
import { filterText } from './facets.ts';
import { watchDrag } from './grid/drag.ts';
import { moveFocus } from './grid/focus.ts';
import { updateGrids, watchGrids } from './grid/grid.ts';
import { keepLayout } from './grid/layout.ts';
import { showHelp } from './help.ts';
import { forgetKey, keyOfTab } from './key.ts';
import { clearDemo, createCollection, createKey, dropCollection, revokeKey } from './manage/manage-actions.ts';
import { copySelected, labelSelected } from './many.ts';
import { Model } from './model.ts';
import { page } from './page.ts';
import { showCompared } from './review/compare.ts';
import { pressInReview } from './review/keys.ts';
import { choose, keepOne, loadGroups, moreMembers, separate, setMinScore } from './review/load-groups.ts';
import { askForDelete, closeQuestions } from './review/review.ts';
import { NO_REVIEW } from './review/state.ts';
import { NO_RUNS } from './runs/runs.ts';
import { dismissRun, retryRun, watchRuns } from './runs/watch-runs.ts';
import { forgetSearch, saveSearch } from './saved.ts';
import { commandOf, findValues, search } from './search.ts';
import { readSearchBox } from './search-box.ts';
import { select, selectBetween } from './selection.ts';
import { loadCollections, loadFields, updateStatus, watchStatus } from './status.ts';
import { TEXTS } from './texts.ts';
import { forgetUndoLater, keepUndo, undoLast } from './undo.ts';
import { historyOf, queryOfFile, uploadOf } from './upload.ts';
import { DEFAULT_COLLECTION, type Query, readState, type ViewState, writeState } from './view-state.ts';
import { moreChanges, retryChanges } from './watch-changes.ts';
import { canRankByText, wordsOf } from './words.ts';

const key = keyOfTab();
const root = document.getElementById('app') as HTMLElement;
const model = new Model(
  createClient({ baseUrl: '', retries: 0, ...(key === undefined ? {} : { key }) }),
  readState(new URLSearchParams(location.search)),
  draw,
);

function draw(): void {
  render(page(model.state, model.shown, actions, commandOf(model, key !== undefined), model.collection), root);
  showModal();
  showCompared();
  updateGrids();
}

/**
 * Opens the collection named in the URL. If there is none and the key does not allow the default one, opens another.
 */
async function begin(): Promise<void> {
  const named = new URLSearchParams(location.search).has('collection');
  const listed = loadCollections(model);
  if (!named) await listed;
  const { collections } = model.shown;
  const [first] = collections;
  if (!named && first !== undefined && !collections.includes(model.state.collection)) {
    model.state = { ...model.state, collection: first };
    history.replaceState(null, '', writeState(model.state));
  }
  void watchStatus(model).then(() => watchRuns(model));
  await loadFields(model);
  await search(model);
  if (model.state.opened !== null) await followAddress(model);
}

/** Clears the data of another collection, and loads the one of the state. */
async function enterCollection(): Promise<void> {
  model.stop();
  model.fields = [];
  model.update({
    status: null,
    documents: [],
    inText: null,
    numFound: null,
    loading: true,
    counting: true,
    facets: [],
    ranges: [],
    wanted: new Map(),
    // Another collection may have other documents with the same ids.
    selected: new Set(),
    review: NO_REVIEW,
    changes: NO_CHANGES,
    runs: NO_RUNS,
  });
  const { collection } = model.state;
  await Promise.all([loadFields(model), updateStatus(model)]);
  // If the user has opened another collection meanwhile, that has started its own search.
  if (collection === model.state.collection) await search(model);
}

/** Shows another collection, if there is one, in place of the one that will be deleted. */
async function leaveCollection(name: string): Promise<void> {
  const others = model.shown.collections.filter((one) => one !== name);
  const collection = others.includes(DEFAULT_COLLECTION) ? DEFAULT_COLLECTION : others[0];
  if (name !== model.state.collection || collection === undefined) return;
  model.state = { ...model.state, collection };
  history.replaceState(null, '', writeState(model.state));
  await enterCollection();
}

/** Forgets what belongs only to the results that the user leaves. */
function leaveResults({ keepPreview = false } = {}): void {
  if (!keepPreview) model.forgetPreview();
  const review = { ...model.shown.review, compared: null };
  model.shown = { ...model.shown, opened: null, tags: null, analyzing: false, selected: new Set(), review };
}

function go(change: Partial<ViewState>, options: { keepPreview?: boolean } = {}): void {
  model.state = { ...model.state, opened: null, ...change };
  leaveResults(options);
  history.pushState(historyOf(model.state.query), '', writeState(model.state));
  scrollTo({ top: 0 });
  void search(model);
}

const actions: Actions = {
  showCollection(collection) {
    model.state = { ...model.state, collection, query: null, words: '', filters: [], sort: '', opened: null };
    leaveResults();
    history.pushState(null, '', writeState(model.state));
    void enterCollection();
  },
  searchBy: (query: Query | null, mode) =>
    go({
      view: 'search',
      query,
      mode: mode ?? model.state.mode,
      also: [],
      minScore: 0,
      ...(query ? { words: '' } : {}),
    }),
  setMode: (mode) => go({ mode }, { keepPreview: true }),
  setWords(text) {
    const asked = readSearchBox(text);
    if ('words' in asked) actions.askWords(asked.words);
    else actions.searchBy(asked.query, asked.query.by === 'hex' ? 'color' : undefined);
  },
  askWords(asked, where = 'both') {
    const text = asked.trim();
    if (where !== 'text' && canRankByText(text, model.shown)) {
      go({ view: 'search', words: '', query: { by: 'text', text, where }, mode: 'content', also: [], minScore: 0 });
    } else go({ view: 'search', words: text, query: null });
  },
  askAlso(id, sign) {
    const others = model.state.also.filter((one) => one.id !== id);
    go({ also: sign === null ? others : [...others, { id, sign }] }, { keepPreview: true });
  },
  setThreshold: (minScore) => go({ minScore }, { keepPreview: true }),
  select: (id, how) => select(model, id, how),
  clearSelection: () => model.update({ selected: new Set() }),
  async deleteSelected() {
    if (!(await deleteDocuments(model, [...model.shown.selected]))) return;
    model.update({ selected: new Set() });
    await search(model, 0, true);
  },
  async labelSelected() {
    if (!(await labelSelected(model))) return;
    model.update({ selected: new Set() });
    await search(model, 0, true);
  },
  copySelected: () => copySelected(model),
  async saveSearch() {
    const { filters } = model.state;
    const value = [wordsOf(model.state), ...filters.map(filterText)].filter(Boolean).join(', ').slice(0, 100);
    const { ask: title, action, name } = TEXTS.saved;
    const answer = await askUser({ title, action, input: { label: name, value } });
    if (answer) model.update({ saved: saveSearch({ name: answer.text, address: writeState(model.state) }) });
  },
  forgetSearch: (name) => model.update({ saved: forgetSearch(name) }),
  showHelp,
  removeFilter: (filter) => go({ filters: model.state.filters.filter((one) => one !== filter) }, { keepPreview: true }),
  setFilters: (filters) => go({ filters: [...filters] }, { keepPreview: true }),
  setOrder: (sort) => go({ sort }, { keepPreview: true }),
  findValues: (field, contains) => findValues(model, field, contains),
  addFilter: (filter) => go({ filters: [...new Set([...model.state.filters, filter])] }, { keepPreview: true }),
  setLayout(layout) {
    keepLayout(layout);
    model.update({ layout });
  },
  setCurrent: (current) => current !== model.shown.current && model.update({ current }),
  showFacets: (narrowing) => model.update({ narrowing }),
  more() {
    if (model.shown.loading) return;
    if (model.state.view === 'changes') void moreChanges(model);
    else void (model.state.view === 'groups' ? loadGroups(model, 'next') : search(model, model.shown.documents.length));
  },
  // All groups: the filters of a search would hide some members.
  reviewGroups: () => go({ view: 'groups', query: null, words: '', filters: [] }),
  showManage: () => go({ view: 'manage', query: null }),
  createCollection: (name) => void createCollection(model, name),
  dropCollection: (name) => void dropCollection(model, name, leaveCollection),
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
  showChanges: () => go({ view: 'changes', query: null }),
  retry: (what) => void retryChanges(model, what),
  openRun: (opened) => model.update({ runs: { ...model.shown.runs, opened } }),
  retryRun(id) {
    const files = failedFilesOf(id);
    if (files) void addFilesAgain(model, id, files);
    else void retryRun(model, id);
  },
  dismissRun: (id) => void dismissRun(model, id),
  choose: (ids, isChosen) => choose(model, ids, isChosen),
  keep: (keep, id) => keepOne(model, keep, id),
  separate: (id) => separate(model, id),
  setMinScore: (minScore) => setMinScore(model, minScore),
  compare: (compared) => model.update({ review: { ...model.shown.review, compared } }),
  moreMembers: (id) => moreMembers(model, id),
  askForDelete() {
    history.pushState({ asks: true }, '');
    askForDelete();
  },
  answered() {
    if (history.state?.asks) history.back();
  },
  async deleteChosen() {
    model.update({ review: { ...model.shown.review, deleting: true } });
    const isDone = await deleteDocuments(model, [...model.shown.review.chosen]);
    const chosen = isDone ? new Set<string>() : model.shown.review.chosen;
    model.update({ review: { ...model.shown.review, chosen, deleting: false } });
    if (isDone) await search(model, 0, true);
  },
  async undo() {
    if (await undoLast(model)) await search(model, 0, true);
  },
  forgetUndo: () => model.update({ undoable: null }),
  keepUndo,
  forgetUndoLater: () => forgetUndoLater(model),
  open(document: FoundDocument | null) {
    if (document) {
      model.state = { ...model.state, opened: document.id };
      history.pushState({ ...historyOf(model.state.query), details: true }, '', writeState(model.state));
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
      model.state.view === 'search' && model.shown.documents.length < (model.shown.numFound ?? 0)
        ? search(model, model.shown.documents.length)
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
    const isWanted = () => model.shown.analyzing && model.shown.preview === preview;
    try {
      const query = await queryOfFile(model.collection, file);
      if (isWanted()) go({ view: 'search', query, words: '', also: [], minScore: 0 }, { keepPreview: true });
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
  const inUrl = readState(new URLSearchParams(location.search));
  const state = { ...inUrl, query: inUrl.query ?? uploadOf(history.state) };
  model.state = state;
  closeQuestions();
  // Its response would concern what was shown before.
  cancelQuestion();
  const hasSameUrl = writeState({ ...state, opened: null }) === writeState({ ...before, opened: null });
  // An uploaded picture may be too long for the URL.
  if (hasSameUrl && historyOf(state.query).upload === historyOf(before.query).upload) {
    model.state = { ...before, opened: state.opened };
    void followAddress(model).catch((error) => model.showError(error));
    return;
  }
  leaveResults();
  void (state.collection === before.collection ? search(model) : enterCollection())
    .then(() => followAddress(model))
    .catch((error) => model.showError(error));
});
addEventListener('keydown', (event) => {
  const target = event.target as HTMLElement;
  if (!event.ctrlKey && !event.metaKey && !event.altKey && moveFocus(event)) event.preventDefault();
  const isTyping = target.closest('input:not([type="checkbox"]), select, textarea, dialog');
  if (!event.ctrlKey && !event.metaKey && !event.altKey && !isTyping && pressAnywhere(event)) event.preventDefault();
  const isElsewhere =
    event.ctrlKey || event.metaKey || event.altKey || target.closest('input, select, textarea, dialog');
  if (isElsewhere || model.state.view !== 'groups') return;
  if (pressInReview(event.key, actions)) event.preventDefault();
});
/** Handles keys that are the same in all views. @returns whether the key was handled */
function pressAnywhere({ key, shiftKey, target }: KeyboardEvent): boolean {
  const { id } = (target as Element).closest<HTMLElement>('.results .card')?.dataset ?? {};
  if (key === '?') showHelp();
  else if (key === '/') document.querySelector<HTMLInputElement>('header input[type="search"]')?.focus();
  else if (key.toLowerCase() === 'x' && id !== undefined) actions.select(id, { range: shiftKey });
  else return false;
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
  const isToAdd = dataTransfer.files.length > 1 || holdsFolder(dataTransfer) || model.shown.status?.documents === 0;
  if (file && isToAdd) {
    void droppedFiles(dataTransfer)
      .then((dropped) => askToAdd(model, dropped))
      .catch((error) => model.showError(error));
  } else if (file) void actions.upload(file);
  else if (address.startsWith('http')) actions.searchBy({ by: 'url', url: address });
});
watchDrag(() => {
  const before = model.shown.selected;
  return (from, to) => selectBetween(model, before, from, to);
});
watchGrids(draw, () => model.shown.error === null && actions.more());
void begin();
