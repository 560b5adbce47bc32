import { createClient, type FoundDocument, type SearchAnswer } from '@akin/client';
import { render } from 'lit-html';
import { countsOf, type FacetField, facetFieldsOf, groupsOf, joinFilters } from './facets.ts';
import { type Actions, page, type Shown } from './page.ts';
import { describePicture } from './upload.ts';
import { asCurl, type Query, readState, searchOf, type ViewState, writeState } from './view-state.ts';

const PAGE_SIZE = 48;
/** How often the page asks whether documents came in. */
const STATUS_MILLISECONDS = 3_000;

const akin = createClient({ baseUrl: '' });
const root = document.getElementById('app') as HTMLElement;

let state: ViewState = readState(new URLSearchParams(location.search));
let shown: Shown = {
  documents: [],
  numFound: null,
  loading: true,
  error: null,
  status: null,
  opened: null,
  groups: [],
  narrowing: false,
  preview: null,
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

function request(start: number) {
  return searchOf(state, start, PAGE_SIZE, joinFilters(state.filters, fields));
}

function curl(): string {
  const { endpoint, parameters } = request(0);
  const path = akin.collection(state.collection).searchAddress(endpoint, parameters);
  return asCurl(`${location.origin}${path}`);
}

/** @param keep Show what is shown until the answer is there: for the same question over a grown collection. */
async function search(start = 0, keep = start > 0): Promise<void> {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  update({ loading: true, error: null, ...(keep ? {} : { documents: [], numFound: null }) });
  const { endpoint, parameters } = request(start);
  try {
    const answer: SearchAnswer = await akin.collection(state.collection)[endpoint](parameters, { signal: mine.signal });
    const documents = start === 0 ? answer.response.docs : [...shown.documents, ...answer.response.docs];
    update({ documents, numFound: answer.response.numFound, loading: false });
    if (start === 0) await countGroups(mine.signal);
  } catch (error) {
    if (!mine.signal.aborted) update({ loading: false, error: messageOf(error) });
  }
}

/** Comes behind the pictures, which it must not keep waiting. */
async function countGroups(signal: AbortSignal): Promise<void> {
  if (fields.length === 0) return;
  const { endpoint, parameters } = countsOf(state, fields);
  const answer = await akin.collection(state.collection)[endpoint](parameters, { signal });
  update({ groups: groupsOf(answer, fields, state.filters) });
}

/** A page without groups is one all the same. */
async function loadFields(): Promise<void> {
  try {
    const { schema } = await akin.collection(state.collection).schema();
    fields = facetFieldsOf(schema.fields);
  } catch {
    fields = [];
  }
}

function go(change: Partial<ViewState>, options: { keepPreview?: boolean } = {}): void {
  state = { ...state, ...change };
  if (!options.keepPreview) forgetPreview();
  shown = { ...shown, opened: null };
  history.pushState(null, '', writeState(state));
  scrollTo({ top: 0 });
  void search();
}

function forgetPreview(): void {
  if (shown.preview) URL.revokeObjectURL(shown.preview);
  shown = { ...shown, preview: null };
}

const actions: Actions = {
  ask: (query: Query | null, mode) => go({ query, mode: mode ?? state.mode, ...(query ? { words: '' } : {}) }),
  setMode: (mode) => go({ mode }, { keepPreview: true }),
  setWords: (words) => go({ words: words.trim(), query: null }),
  removeFilter: (filter) => go({ filters: state.filters.filter((one) => one !== filter) }, { keepPreview: true }),
  addFilter: (filter) => go({ filters: [...new Set([...state.filters, filter])] }, { keepPreview: true }),
  showGroups: (narrowing) => update({ narrowing }),
  more: () => void search(shown.documents.length),
  open: (document: FoundDocument | null) => update({ opened: document }),
  async upload(file) {
    forgetPreview();
    const preview = URL.createObjectURL(file);
    update({ loading: true, error: null, preview, opened: null });
    try {
      const outputs = await describePicture(akin.collection(state.collection), file);
      go({ query: { by: 'outputs', outputs }, words: '' }, { keepPreview: true });
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
  try {
    const status = await akin.collection(state.collection).status();
    const grew = shown.status !== null && status.commit !== shown.status.commit;
    update({ status });
    if (grew) await loadFields();
    const atStart = shown.documents.length <= PAGE_SIZE && scrollY < innerHeight && !shown.opened;
    if (grew && atStart && !shown.loading) void search(0, true);
  } catch {
    // The next search tells what is wrong.
  }
  setTimeout(() => void watchStatus(), STATUS_MILLISECONDS);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

addEventListener('popstate', () => {
  state = readState(new URLSearchParams(location.search));
  shown = { ...shown, opened: null };
  void search();
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

void loadFields().then(() => search());
void watchStatus();
