import type { Collection, CollectionSummary, FoundDocument, Plain } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import { type Changes, changesView } from './changes.ts';
import { type Facet, filterOf } from './facets.ts';
import { keyedSource } from './key.ts';
import { isAnalyzed, palette, paletteOf, picture, scoreText, strings, titleOf } from './parts.ts';
import { type Review, review } from './review.ts';
import { sidebar } from './sidebar.ts';
import { type PredictedTags, predictedTags } from './tags.ts';
import { DEFAULT_COLLECTION, type Mode, type Query, type ViewState } from './view-state.ts';

/** What came from akin, beside the state that stands in the address. */
export interface Shown {
  documents: readonly FoundDocument[];
  /** Null while nothing came yet. */
  numFound: number | null;
  loading: boolean;
  error: string | null;
  status: CollectionSummary | null;
  /** Names of all collections, as far as the key may know them. */
  collections: readonly string[];
  opened: FoundDocument | null;
  /** What the results can be narrowed by. */
  facets: readonly Facet[];
  /** Whether a small screen shows them. */
  narrowing: boolean;
  /** Address of the uploaded picture in this browser. */
  preview: string | null;
  /** Labels for what is searched for, and for the document that is opened. */
  tags: PredictedTags | null;
  openedTags: PredictedTags | null;
  /** Groups of near-duplicates, where the page shows them. */
  review: Review;
  /** Changes that are on their way or failed, where the page shows them. */
  changes: Changes;
}

export interface Actions {
  showCollection(name: string): void;
  ask(query: Query | null, mode?: Mode): void;
  setMode(mode: Mode): void;
  setWords(words: string): void;
  addFilter(filter: string): void;
  removeFilter(filter: string): void;
  showFacets(shown: boolean): void;
  more(): void;
  reviewGroups(): void;
  showChanges(): void;
  /** Sets one failed change on its way again, or all that failed for one reason. */
  retry(what: { operation: string } | { reason: string }): void;
  /** Marks documents as to be deleted, or not. */
  choose(ids: readonly string[], chosen: boolean): void;
  deleteChosen(): Promise<void>;
  open(document: FoundDocument | null): void;
  upload(file: Blob): Promise<void>;
  copy(text: string): Promise<void>;
}

const MODE_NAMES: readonly [Mode, string, string][] = [
  ['content', 'Content', 'Pictures that show the like'],
  ['color', 'Colour', 'Pictures in the same colours'],
  ['duplicate', 'Duplicates', 'Copies of the same picture'],
];
/** Fields that the page shows in a form of its own, or that say nothing to a person. */
const NOT_LISTED =
  /^(id|score|labels|image|color_palette_\w+|color_names|\w+_(cluster|rerank|nclusters|lopq|descriptor))$/;

export function page(
  state: ViewState,
  shown: Shown,
  actions: Actions,
  curl: string,
  collection: Collection,
): TemplateResult {
  return html`
    ${header(state, shown, actions)}
    <main>
      ${shown.error ? html`<p class="error" role="alert">${shown.error}</p>` : nothing}
      ${content(state, shown, actions, curl, collection)}
    </main>
    ${shown.opened ? details(shown.opened, shown, actions, collection) : nothing}
    <div class="drop-note" aria-hidden="true">Drop a picture to see what looks like it</div>`;
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
      ${state.query ? question(state, state.query, shown, actions, collection) : nothing}
      ${summary(state, count, actions, curl)}
      <div class="results">
        ${sidebar(state, shown, actions)}
        <div class="found">
          <ul class="grid">
            ${shown.documents.map((document) => card(document, actions, collection))}
          </ul>
          ${emptyNote(state, shown)}
          ${
            shown.numFound !== null && shown.documents.length < shown.numFound
              ? html`<button class="more" ?disabled=${shown.loading} @click=${actions.more}>${shown.loading ? 'Loading…' : 'More'}</button>`
              : nothing
          }
        </div>
      </div>`;
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
      <input type="file" accept="image/*" @change=${pick} />
      Search by picture
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
        html`<button class="chip" title="Remove this filter" @click=${() => actions.removeFilter(filter)}>${filter} ×</button>`,
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
  const named = state.collection === DEFAULT_COLLECTION ? '' : ` --collection ${state.collection}`;
  return html`<p class="note">
    This collection is empty. Index a folder with <code>npx akin index ~/Pictures${named}</code>, or drop a picture here once there are some.
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
    <div class="card-actions">${likeIt(document, actions)}</div>
  </li>`;
}

/** A search for the like by each mode, where there is a picture to compare. */
function likeIt(document: FoundDocument, actions: Actions): readonly TemplateResult[] {
  if (!isAnalyzed(document)) return [];
  return MODE_NAMES.map(
    ([mode, label, about]) =>
      html`<button title=${about} @click=${() => actions.ask({ by: 'id', id: document.id }, mode)}>${label}</button>`,
  );
}

function details(document: FoundDocument, shown: Shown, actions: Actions, collection: Collection): TemplateResult {
  const close = () => actions.open(null);
  const chips = [
    ...strings(document.labels).map((label) => ['labels', label] as const),
    ...strings(document.color_names).map((name) => ['color_names', name] as const),
  ];
  return html`<div class="veil" @click=${close}></div>
    <aside class="details" role="dialog" aria-modal="true" aria-label=${titleOf(document)}>
      <button class="quiet close" aria-label="Close" @click=${close}>×</button>
      ${picture(document, collection)}
      <h2>${titleOf(document)}</h2>
      <div class="modes" role="group" aria-label="Search for the like by">
        ${likeIt(document, actions)}
      </div>
      ${paletteOf(document, 'big', (hex) => actions.ask({ by: 'hex', hex }, 'color'))}
      <p class="chips">
        ${chips.map(
          ([field, value]) =>
            html`<button class="chip" title="Only these" @click=${() => actions.addFilter(filterOf(field, value))}>${value}</button>`,
        )}
      </p>
      ${predictedTags(shown.openedTags, [], actions, strings(document.labels))}
      <dl>
        <dt>id</dt><dd>${document.id}</dd>
        ${Object.entries(document)
          .filter(([name]) => !NOT_LISTED.test(name))
          .map(([name, value]) => html`<dt>${name}</dt><dd>${valueText(value)}</dd>`)}
        ${
          typeof document.image === 'string' && /^https?:/.test(document.image)
            ? html`<dt>image</dt><dd><a href=${document.image} rel="noreferrer" target="_blank">${document.image}</a></dd>`
            : nothing
        }
      </dl>
    </aside>`;
}

function valueText(value: Plain): string {
  return Array.isArray(value) ? value.join(', ') : String(value);
}
