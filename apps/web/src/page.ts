import type { Collection, CollectionSummary, FoundDocument } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { changesView } from './changes.ts';
import { details } from './details/details.ts';
import { filterText } from './facets.ts';
import { keyedSource } from './key.ts';
import { MODE_NAMES, similarTo } from './modes.ts';
import { palette, paletteOf, picture, scoreText, titleOf } from './parts.ts';
import { review } from './review.ts';
import { runBars } from './runs/runs.ts';
import type { Shown } from './shown.ts';
import { sidebar } from './sidebar.ts';
import { predictedTags } from './tags.ts';
import { undoNote } from './undo.ts';
import { DEFAULT_COLLECTION, type Query, type ViewState } from './view-state.ts';

/** Documents that are asked for at once. */
export const PAGE_SIZE = 48;

export function page(
  state: ViewState,
  shown: Shown,
  actions: Actions,
  curl: string,
  collection: Collection,
): TemplateResult {
  return html`
    ${header(state, shown, actions)} ${runBars(shown.runs, actions)}
    <main aria-busy=${shown.loading || shown.analyzing}>
      <h1 class="unseen">${VIEW_NAMES[state.view]}</h1>
      ${shown.analyzing ? analyzing(shown) : nothing}
      ${shown.error ? html`<p class="error" role="alert">${shown.error}</p>` : nothing}
      ${content(state, shown, actions, curl, collection)}
    </main>
    ${details(shown, actions, collection)} ${shown.deleted ? undoNote(shown.deleted, actions) : nothing}
    <div class="drop-note" aria-hidden="true">Drop a picture to see what looks like it</div>`;
}

const VIEW_NAMES = { search: 'Pictures', groups: 'Duplicates', changes: 'Changes' } as const;

/** What goes on between the choice of a picture and the results. */
function analyzing({ preview }: Shown): TemplateResult {
  return html`<section class="question" role="status">
    ${preview ? html`<img src=${preview} alt="" />` : nothing}
    <div>
      <p class="asked">Looking at your picture…</p>
      <progress aria-label="Looking at your picture"></progress>
    </div>
  </section>`;
}

function content(
  state: ViewState,
  shown: Shown,
  actions: Actions,
  curl: string,
  collection: Collection,
): TemplateResult {
  if (state.view === 'changes') return changesView(shown.changes, shown.status, actions);
  return state.view === 'groups'
    ? reviewed(state, shown, actions, curl, collection)
    : results(state, shown, actions, curl, collection);
}

function reviewed(
  state: ViewState,
  shown: Shown,
  actions: Actions,
  curl: string,
  collection: Collection,
): TemplateResult {
  const { numFound, numFoundExact } = shown.review;
  const count =
    numFound === null
      ? 'Looking…'
      : `${numFoundExact ? '' : 'about '}${numFound.toLocaleString()} group${numFound === 1 ? '' : 's'}`;
  return html`${summary(state, count, actions, curl)} ${review(shown.review, shown.loading, actions, collection)}`;
}

function results(
  state: ViewState,
  shown: Shown,
  actions: Actions,
  curl: string,
  collection: Collection,
): TemplateResult {
  const count =
    shown.numFound === null ? (shown.loading ? 'Searching…' : '') : `${shown.numFound.toLocaleString()} found`;
  return html`
      ${state.query && !shown.analyzing ? question(state, state.query, shown, actions, collection) : nothing}
      ${summary(state, count, actions, curl)}
      <div class="results">
        ${sidebar(state, shown, actions)}
        <div class="found">
          <ul class="grid">
            ${shown.documents.map((document) => card(document, actions, collection))}
          </ul>
          ${emptyNote(state, shown)}
          ${moreButton(shown, actions)}
        </div>
      </div>`;
}

/** As far down as one can look without narrowing the search. */
const MOST_SHOWN = 10_000;

function moreButton({ numFound, documents, loading }: Shown, actions: Actions): TemplateResult | typeof nothing {
  if (numFound === null || documents.length >= numFound) return nothing;
  if (documents.length + PAGE_SIZE > MOST_SHOWN) {
    return html`<p class="note">The page shows no more results: narrow the search to see others.</p>`;
  }
  return html`<button class="more" ?disabled=${loading} @click=${actions.more}>${loading ? 'Loading…' : 'More'}</button>`;
}

function header(state: ViewState, shown: Shown, actions: Actions): TemplateResult {
  const pick = (event: Event) => {
    const input = event.target as HTMLInputElement;
    if (input.files?.[0]) void actions.upload(input.files[0]);
    input.value = '';
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    actions.setWords(new FormData(event.target as HTMLFormElement).get('q') as string);
  };
  return html`<header>
    <a class="brand" href="?" @click=${(event: Event) => {
      event.preventDefault();
      actions.ask(null, 'content');
    }}><img src="icon.svg" alt="" width="28" height="28" />akin</a>
    ${collectionChoice(state, shown, actions)}
    <form role="search" @submit=${submit}>
      <input type="search" name="q" aria-label="Words or a query" placeholder="Words, or field:value" .value=${state.words} />
    </form>
    <label class="button primary">
      <input type="file" accept="image/*" aria-label="Search by picture" @change=${pick} />
      <span><span class="long">Search by </span>picture</span>
    </label>
    <label class="button swatch" title="Search by colour">
      <input type="color" aria-label="Search by colour" value="#ff8a5b"
        @change=${(event: Event) => actions.ask({ by: 'hex', hex: (event.target as HTMLInputElement).value }, 'color')} />
      Colour
    </label>
    <a class="button views" href="?view=groups" aria-current=${state.view === 'groups' ? 'page' : nothing}
      title="Groups of near-duplicates to review" @click=${(event: Event) => {
        event.preventDefault();
        actions.reviewGroups();
      }}>Duplicates</a>
    <a class="status" href="?view=changes" aria-current=${state.view === 'changes' ? 'page' : nothing}
      title="What is on its way, and what failed" @click=${(event: Event) => {
        event.preventDefault();
        actions.showChanges();
      }}>${statusText(shown.status)}</a>
  </header>`;
}

function collectionChoice(state: ViewState, shown: Shown, actions: Actions): TemplateResult | typeof nothing {
  const names = [...new Set([...shown.collections, state.collection])].sort();
  if (names.length < 2) return nothing;
  const choose = (event: Event) => actions.showCollection((event.target as HTMLSelectElement).value);
  return html`<select class="collections" aria-label="Collection" .value=${state.collection} @change=${choose}>
    ${names.map((name) => html`<option value=${name} ?selected=${name === state.collection}>${name}</option>`)}
  </select>`;
}

function statusText(status: CollectionSummary | null): string {
  if (!status) return '';
  const parts = [`${status.documents.toLocaleString()} document${status.documents === 1 ? '' : 's'}`];
  if (status.pending > 0) parts.push(`${status.pending.toLocaleString()} on their way`);
  if (status.failed > 0) parts.push(`${status.failed.toLocaleString()} failed`);
  return parts.join(' · ');
}

/** What the results are compared with, and by what. */
function question(
  state: ViewState,
  query: Query,
  shown: Shown,
  actions: Actions,
  collection: Collection,
): TemplateResult {
  const modes = query.by === 'hex' ? [] : MODE_NAMES;
  return html`<section class="question" aria-label="What is searched for">
    ${questionPicture(query, shown, collection)}
    <div>
      <p class="asked">${questionText(query, shown)}</p>
      <div class="modes" role="group" aria-label="Compare by">
        ${modes.map(
          ([mode, name, about]) =>
            html`<button title=${about} aria-pressed=${state.mode === mode} @click=${() => actions.setMode(mode)}>${name}</button>`,
        )}
      </div>
      ${predictedTags(shown.tags, state.filters, actions)}
    </div>
    <button class="quiet clear" @click=${() => actions.ask(null)}>Clear</button>
  </section>`;
}

function questionPicture(query: Query, shown: Shown, collection: Collection): TemplateResult {
  if (query.by === 'id') return html`<img src=${keyedSource(collection.thumbnailAddress(query.id))} alt="" />`;
  if (query.by === 'url') return html`<img src=${query.url} alt="" referrerpolicy="no-referrer" />`;
  if (query.by === 'hex')
    return palette(
      query.hex.split(',').map((one) => one.split(':')[0] as string),
      'big',
    );
  return shown.preview
    ? html`<img src=${shown.preview} alt="" />`
    : html`<span class="placeholder">an uploaded picture</span>`;
}

function questionText(query: Query, shown: Shown): string {
  if (query.by === 'id') {
    const document = shown.documents.find(({ id }) => id === query.id);
    return `Like ${document ? titleOf(document) : query.id}`;
  }
  if (query.by === 'url') return `Like the picture at ${query.url}`;
  if (query.by === 'hex') return `In the colour ${query.hex}`;
  return 'Like the uploaded picture';
}

function summary(state: ViewState, count: string, actions: Actions, curl: string): TemplateResult {
  return html`<div class="summary">
    <span aria-live="polite">${count}</span>
    ${state.filters.map(
      (filter) =>
        html`<button class="chip" title="Remove this filter" @click=${() => actions.removeFilter(filter)}>${filterText(filter)} ×</button>`,
    )}
    <span class="spacer"></span>
    ${copyButton('Copy link', () => location.href, actions)} ${copyButton('Copy as curl', () => curl, actions)}
  </div>`;
}

function copyButton(name: string, text: () => string, actions: Actions): TemplateResult {
  const copy = async (event: Event) => {
    const button = event.currentTarget as HTMLButtonElement;
    await actions.copy(text());
    button.dataset.copied = 'yes';
    setTimeout(() => delete button.dataset.copied, 1500);
  };
  return html`<button class="quiet copy" @click=${copy}>${name}</button>`;
}

function emptyNote(state: ViewState, shown: Shown): TemplateResult | typeof nothing {
  if (shown.loading || shown.error || shown.numFound !== 0) return nothing;
  const asked = state.query || state.words || state.filters.length > 0;
  if (asked)
    return html`<p class="note">Nothing matches. ${state.mode === 'duplicate' ? 'No copy of this picture is stored.' : ''}</p>`;
  const named =
    state.collection === DEFAULT_COLLECTION
      ? nothing
      : html` <span class="whole">--collection ${state.collection}</span>`;
  return html`<p class="note">
    This collection is empty. Index a folder with <code>npx akin-search index ~/Pictures${named}</code>.
  </p>`;
}

function card(document: FoundDocument, actions: Actions, collection: Collection): TemplateResult {
  const name = titleOf(document);
  return html`<li class="card">
    <button class="picture" title=${name} @click=${() => actions.open(document)}>
      ${picture(document, collection)}
      ${document.score === undefined ? nothing : html`<span class="score" title="Score, 0 to 1">${scoreText(document.score)}</span>`}
    </button>
    ${paletteOf(document)}
    <p class="name">${name}</p>
    <div class="card-actions">${similarTo(document, actions)}</div>
  </li>`;
}
