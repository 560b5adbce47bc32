import type { Collection, FoundDocument } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from './actions.ts';
import { bandsOf } from './bands.ts';
import { number } from './format.ts';
import { similarTo } from './modes.ts';
import { paletteOf, picture, scoreText, titleOf } from './parts.ts';
import type { Shown } from './shown.ts';
import { sidebar } from './sidebar.ts';
import { TEXTS } from './texts.ts';
import { DEFAULT_COLLECTION, type ViewState } from './view-state.ts';

/** Documents that are asked for at once. */
export const PAGE_SIZE = 48;

const T = TEXTS.results;

/** The pictures that were found, and what they can be narrowed by. */
export function resultsView(state: ViewState, shown: Shown, actions: Actions, collection: Collection): TemplateResult {
  return html`<div class="results">
    ${sidebar(state, shown, actions)}
    <div class="found">
      ${state.query && !state.sort && shown.documents.length > 0 ? bands(state, shown, actions, collection) : grid(shown.documents, shown, actions, collection)}
      ${shown.loading && shown.documents.length === 0 ? skeletons() : nothing} ${emptyNote(state, shown)}
      ${moreButton(shown, actions)}
    </div>
  </div>`;
}

/** Ranked pictures by how alike they are; the weak ones are there for who opens them, or where there are no others. */
function bands(state: ViewState, shown: Shown, actions: Actions, collection: Collection): TemplateResult {
  const all = bandsOf(shown.documents, state.mode);
  return html`${all.map(({ name, documents }) => {
    const cards = grid(documents, shown, actions, collection);
    const title = html`<span>${TEXTS.bands.names[name]}</span> <span class="about">${TEXTS.bands.about[name]}</span>`;
    if (name !== 'weak') return html`<section class="band"><h2>${title}</h2>${cards}</section>`;
    return html`<details class="band" ?open=${all.length === 1}>
      <summary><h2>${title} <span class="count">${number(documents.length)}</span></h2></summary>
      ${cards}
    </details>`;
  })}`;
}

function grid(
  documents: readonly FoundDocument[],
  shown: Shown,
  actions: Actions,
  collection: Collection,
): TemplateResult {
  return html`<ul class="grid">
    ${repeat(
      documents,
      ({ id }) => id,
      (document) => card(document, shown, actions, collection),
    )}
  </ul>`;
}

/** Stand where pictures will be, at once. */
function skeletons(): TemplateResult {
  return html`<ul class="grid" aria-hidden="true">
    ${Array.from({ length: 12 }, () => html`<li class="skeleton"></li>`)}
  </ul>`;
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

function card(document: FoundDocument, shown: Shown, actions: Actions, collection: Collection): TemplateResult {
  const name = titleOf(document);
  const isSelected = shown.selected.has(document.id);
  const toggle = (event: MouseEvent) => actions.select(document.id, { range: event.shiftKey });
  return html`<li class=${isSelected ? 'card selected' : 'card'}>
    <button class="picture" title=${name} @click=${() => actions.open(document)}>
      ${picture(document, collection)}
      ${document.score === undefined ? nothing : html`<span class="score" title=${T.scoreTitle}>${scoreText(document.score)}</span>`}
    </button>
    <input class="select" type="checkbox" aria-label=${T.select(name)} .checked=${isSelected} @click=${toggle} />
    ${paletteOf(document)}
    <p class="name">${name}</p>
    <div class="card-actions">${similarTo(document, actions)}</div>
  </li>`;
}
