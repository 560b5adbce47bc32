import {
  AkinRequestError,
  createClient,
  type FoundDocument,
  type SearchAnswer,
  type TagParameters,
} from '@akin/client';
import { render } from 'lit-html';
import { loadChanges, moreFailed, NO_CHANGES } from './changes.ts';
import { countsOf, type FacetField, facetFieldsOf, facetsOf, joinFilters } from './facets.ts';
import { askForKey, keyOfTab } from './key.ts';
import { type Actions, page, type Shown } from './page.ts';
import { NO_REVIEW } from './review.ts';
import { LEAST_CONFIDENCE, MOST_TAGS, type PredictedTags } from './tags.ts';
import { questionOf } from './upload.ts';
import { asCurl, groupsOf, type Query, readState, searchOf, tagsOf, type ViewState, writeState } from './view-state.ts';

const PAGE_SIZE = 48;
const GROUPS_PAGE = 20;
const MOST_GROUPS = 100;
/** How often the page asks whether documents came in. */
const STATUS_MILLISECONDS = 3_000;
/** Groups are behind the collection for a moment after each commit. */
const BEHIND_MILLISECONDS = 1_500;

const key = keyOfTab();
const akin = createClient({ baseUrl: '', ...(key === undefined ? {} : { key }) });
const root = document.getElementById('app') as HTMLElement;

let state: ViewState = readState(new URLSearchParams(location.search));
let shown: Shown = {
  documents: [],
  numFound: null,
  loading: true,
  error: null,
  status: null,
  collections: [],
  opened: null,
  facets: [],
  narrowing: false,
  preview: null,
  tags: null,
  openedTags: null,
  review: NO_REVIEW,
  changes: NO_CHANGES,
};
/** Of the collection that is shown; empty until its schema came. */
let fields: readonly FacetField[] = [];
let running: AbortController | null = null;

function draw(): void {
  render(page(state, shown, actions, curl(), akin.collection(state.collection)), root);
}

function update(change: Partial<Shown>): void {
  shown = { ...shown, ...change };
  draw();
}

function filters(): string[] {
  return joinFilters(state.filters, fields);
}

function request(start: number) {
  return searchOf(state, start, PAGE_SIZE, filters());
}

function curl(): string {
  if (state.view === 'groups') {
    const path = akin.collection(state.collection).searchAddress('groups', groupsOf(state, GROUPS_PAGE, filters()));
    return asCurl(`${location.origin}${path}`, key !== undefined);
  }
  const { endpoint, parameters } = request(0);
  if (parameters['rank.by.data']) parameters['rank.by.data'] = 'BASE64';
  const path = akin.collection(state.collection).searchAddress(endpoint, parameters);
  return asCurl(`${location.origin}${path}`, key !== undefined);
}

/** @param keep Show what is shown until the answer is there: for the same question over a grown collection. */
async function search(start = 0, keep = start > 0): Promise<void> {
  if (state.view === 'changes') return watchChanges();
  if (state.view === 'groups') return loadGroups(keep ? 'again' : 'first');
  running?.abort();
  const mine = new AbortController();
  running = mine;
  update({ loading: true, error: null, ...(keep ? {} : { documents: [], numFound: null }) });
  const { endpoint, parameters } = request(start);
  try {
    const answer: SearchAnswer = await akin.collection(state.collection)[endpoint](parameters, { signal: mine.signal });
    const documents = start === 0 ? answer.response.docs : [...shown.documents, ...answer.response.docs];
    update({ documents, numFound: answer.response.numFound, loading: false });
    if (start === 0) await Promise.all([countFacets(mine.signal), tagQuestion(mine.signal)]);
  } catch (error) {
    if (!mine.signal.aborted) update({ loading: false, error: messageOf(error) });
  }
}

/** Comes behind the pictures, which it must not keep waiting. */
async function countFacets(signal: AbortSignal): Promise<void> {
  if (fields.length === 0) return;
  const { endpoint, parameters } = countsOf(state, fields);
  const answer = await akin.collection(state.collection)[endpoint](parameters, { signal });
  update({ facets: facetsOf(answer, fields, state.filters) });
}

async function tagQuestion(signal: AbortSignal): Promise<void> {
  const input = state.query && tagsOf(state.query);
  const tags = input ? await predictTags(input, signal) : null;
  if (!signal.aborted) update({ tags });
}

/** Labels are a help and no answer: without them all else is shown. */
async function predictTags(input: TagParameters, signal: AbortSignal): Promise<PredictedTags | null> {
  const parameters = { ...input, 'tagging.max': MOST_TAGS, 'tagging.threshold': LEAST_CONFIDENCE };
  try {
    return (await akin.collection(state.collection).tag(parameters, { signal })).tags;
  } catch {
    return null;
  }
}

/** Asks for labels of the document that was opened. */
async function tagOpened(document: FoundDocument): Promise<void> {
  const tags = await predictTags({ 'tagging.input.id': document.id }, new AbortController().signal);
  if (shown.opened === document) update({ openedTags: tags });
}

/** @param page The first, the next, or as many as are shown, which are shown until the answer is there. */
async function loadGroups(page: 'first' | 'next' | 'again'): Promise<void> {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  const before = page === 'first' ? NO_REVIEW : shown.review;
  update({ loading: true, error: null, review: before });
  const rows = page === 'again' ? Math.min(Math.max(before.groups.length, GROUPS_PAGE), MOST_GROUPS) : GROUPS_PAGE;
  const cursor = page === 'next' ? before.nextCursor : undefined;
  try {
    const answer = await akin.collection(state.collection).groups(groupsOf(state, rows, filters(), cursor), mine);
    const { groups, numFound, numFoundExact, threshold, commit, asOfCommit, nextCursor } = answer;
    const counts = { numFound, numFoundExact, threshold, commit, asOfCommit, nextCursor };
    const all = page === 'next' ? [...before.groups, ...groups] : groups;
    update({ loading: false, review: { ...shown.review, ...counts, groups: all } });
    if (asOfCommit < commit) setTimeout(() => mayReload(mine.signal) && void loadGroups('again'), BEHIND_MILLISECONDS);
  } catch (error) {
    if (!mine.signal.aborted) update({ loading: false, error: messageOf(error) });
  }
}

/** Shows what is on its way and what failed, and keeps it so until another view is shown. */
async function watchChanges(): Promise<void> {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  update({ loading: false, error: null });
  try {
    await refreshChanges();
    for await (const event of akin.collection(state.collection).events({ signal: mine.signal })) {
      if (event.kind === 'status') await refreshChanges();
    }
  } catch (error) {
    if (!mine.signal.aborted) update({ error: messageOf(error) });
  }
}

async function refreshChanges(): Promise<void> {
  const collection = akin.collection(state.collection);
  const [status, loaded] = await Promise.all([
    collection.status(),
    loadChanges(collection, shown.changes.failed.length),
  ]);
  update({ status, changes: { ...shown.changes, ...loaded, loadedAt: Date.now() } });
}

async function moreChanges(): Promise<void> {
  try {
    update({ changes: { ...shown.changes, ...(await moreFailed(akin.collection(state.collection), shown.changes)) } });
  } catch (error) {
    update({ error: messageOf(error) });
  }
}

/** Nobody wants groups to move while they choose, or read further down. */
function mayReload(signal?: AbortSignal): boolean {
  const { chosen, deleting, groups } = shown.review;
  const busy = shown.loading || shown.opened !== null || deleting || chosen.size > 0 || groups.length > MOST_GROUPS;
  return state.view === 'groups' && signal?.aborted !== true && !busy;
}

/** A page without groups is one all the same. */
async function loadFields(): Promise<void> {
  const { collection } = state;
  let found: readonly FacetField[] = [];
  try {
    found = facetFieldsOf((await akin.collection(collection).schema()).schema.fields);
  } catch {
    // See above.
  }
  if (collection === state.collection) fields = found;
}

/** Which others there are to choose from, as far as the key goes. */
async function loadCollections(): Promise<void> {
  try {
    const { collections } = await akin.collections();
    update({ collections: collections.map(({ name }) => name) });
  } catch {
    update({ collections: [] });
  }
}

/** Shows the collection of the address. Where that names none and the usual one is not for the key, another one is. */
async function begin(): Promise<void> {
  const named = new URLSearchParams(location.search).has('collection');
  const listed = loadCollections();
  if (!named) await listed;
  const [first] = shown.collections;
  if (!named && first !== undefined && !shown.collections.includes(state.collection)) {
    state = { ...state, collection: first };
    history.replaceState(null, '', writeState(state));
  }
  void watchStatus();
  await loadFields();
  await search();
}

/** Forgets what came from another collection, and asks the one of the state. */
async function enterCollection(): Promise<void> {
  running?.abort();
  fields = [];
  update({ status: null, documents: [], numFound: null, loading: true, facets: [], changes: NO_CHANGES });
  const { collection } = state;
  await Promise.all([loadFields(), lookAtStatus()]);
  // Whoever goes on meanwhile begins a search of their own.
  if (collection === state.collection) await search();
}

function go(change: Partial<ViewState>, options: { keepPreview?: boolean } = {}): void {
  state = { ...state, ...change };
  if (!options.keepPreview) forgetPreview();
  shown = { ...shown, opened: null, tags: null };
  history.pushState(null, '', writeState(state));
  scrollTo({ top: 0 });
  void search();
}

function forgetPreview(): void {
  if (shown.preview) URL.revokeObjectURL(shown.preview);
  shown = { ...shown, preview: null };
}

const actions: Actions = {
  showCollection(collection) {
    forgetPreview();
    state = { ...state, collection, query: null, words: '', filters: [] };
    shown = { ...shown, opened: null, tags: null };
    history.pushState(null, '', writeState(state));
    void enterCollection();
  },
  ask: (query: Query | null, mode) =>
    go({ view: 'search', query, mode: mode ?? state.mode, ...(query ? { words: '' } : {}) }),
  setMode: (mode) => go({ mode }, { keepPreview: true }),
  setWords: (words) => go({ words: words.trim(), query: null }),
  removeFilter: (filter) => go({ filters: state.filters.filter((one) => one !== filter) }, { keepPreview: true }),
  addFilter: (filter) => go({ filters: [...new Set([...state.filters, filter])] }, { keepPreview: true }),
  showFacets: (narrowing) => update({ narrowing }),
  more() {
    if (state.view === 'changes') void moreChanges();
    else void (state.view === 'groups' ? loadGroups('next') : search(shown.documents.length));
  },
  reviewGroups: () => go({ view: 'groups', query: null }),
  showChanges: () => go({ view: 'changes', query: null }),
  async retry(what) {
    const name = 'reason' in what ? what.reason : what.operation;
    const mark = (retrying: ReadonlySet<string>) => update({ changes: { ...shown.changes, retrying } });
    mark(new Set([...shown.changes.retrying, name]));
    try {
      const collection = akin.collection(state.collection);
      await ('reason' in what ? collection.retryFailed(what.reason) : collection.retry(what.operation));
      await refreshChanges();
    } catch (error) {
      update({ error: messageOf(error) });
    }
    mark(new Set([...shown.changes.retrying].filter((one) => one !== name)));
  },
  choose(ids, isChosen) {
    const chosen = new Set(shown.review.chosen);
    for (const id of ids) isChosen ? chosen.add(id) : chosen.delete(id);
    update({ review: { ...shown.review, chosen } });
  },
  async deleteChosen() {
    update({ error: null, review: { ...shown.review, deleting: true } });
    try {
      await akin.collection(state.collection).deleteByIds([...shown.review.chosen], { commit: true });
      update({ review: { ...shown.review, chosen: new Set(), deleting: false } });
      await loadGroups('again');
    } catch (error) {
      update({ error: messageOf(error), review: { ...shown.review, deleting: false } });
    }
  },
  open(document: FoundDocument | null) {
    update({ opened: document, openedTags: null });
    // Only a picture whose content was analyzed has neighbours.
    if (document && 'content_rerank' in document) void tagOpened(document);
  },
  async upload(file) {
    forgetPreview();
    const preview = URL.createObjectURL(file);
    update({ loading: true, error: null, preview, opened: null });
    try {
      const query = await questionOf(akin.collection(state.collection), file);
      go({ view: 'search', query, words: '' }, { keepPreview: true });
    } catch (error) {
      forgetPreview();
      update({ loading: false, error: messageOf(error) });
    }
  },
  async copy(text) {
    await navigator.clipboard.writeText(text);
  },
};

async function watchStatus(): Promise<void> {
  await lookAtStatus();
  setTimeout(() => void watchStatus(), STATUS_MILLISECONDS);
}

/** Tells how many documents there are, and shows new ones where nobody minds. */
async function lookAtStatus(): Promise<void> {
  const { collection } = state;
  try {
    const status = await akin.collection(collection).status();
    if (collection !== state.collection) return;
    const grew = shown.status !== null && status.commit !== shown.status.commit;
    update({ status });
    if (grew) await loadFields();
    const atStart = shown.documents.length <= PAGE_SIZE && scrollY < innerHeight && !shown.opened;
    const may = state.view === 'groups' ? mayReload() : atStart && !shown.loading;
    if (grew && may && state.view !== 'changes') void search(0, true);
  } catch {
    // The next search tells what is wrong.
  }
}

function messageOf(error: unknown): string {
  if (error instanceof AkinRequestError && error.status === 401) askForKey(error.message);
  return error instanceof Error ? error.message : String(error);
}

addEventListener('popstate', () => {
  const { collection } = state;
  state = readState(new URLSearchParams(location.search));
  shown = { ...shown, opened: null };
  void (state.collection === collection ? search() : enterCollection());
});
addEventListener('paste', (event) => {
  const file = [...(event.clipboardData?.files ?? [])].find((one) => one.type.startsWith('image/'));
  if (file) void actions.upload(file);
});
addEventListener('dragover', (event) => {
  event.preventDefault();
  document.body.classList.add('dropping');
});
addEventListener('dragleave', (event) => {
  if (!event.relatedTarget) document.body.classList.remove('dropping');
});
addEventListener('drop', (event) => {
  event.preventDefault();
  document.body.classList.remove('dropping');
  const file = event.dataTransfer?.files[0];
  const address = event.dataTransfer?.getData('text/uri-list');
  if (file) void actions.upload(file);
  else if (address?.startsWith('http')) actions.ask({ by: 'url', url: address });
});
addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && shown.opened) actions.open(null);
});

void begin();
