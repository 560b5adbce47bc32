import type { Collection, FoundDocument } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { emptyCollection } from './add/empty.ts';
import { bandsOf } from './bands.ts';
import { number } from './format.ts';
import { gridView } from './grid/grid.ts';
import type { PageData } from './page-data.ts';
import { sidebar } from './sidebar.ts';
import { TEXTS } from './texts.ts';
import type { ViewState } from './view-state.ts';
import { textMatchesSection } from './words.ts';

/** Number of documents in one request. */
export const PAGE_SIZE = 48;
/** Number of documents in later requests, when the user scrolls to weaker results. */
export const NEXT_PAGE_SIZE = 96;

const T = TEXTS.results;

/** The pictures of the results, with the controls to filter them. */
export function resultsView(
  state: ViewState,
  pageData: PageData,
  actions: Actions,
  collection: Collection,
): TemplateResult {
  const documents = pageData.documents.slice(pageData.textMatches?.shown ?? 0);
  return html`<div class="results">
    ${sidebar(state, pageData, actions)}
    <div class="found">
      ${state.query?.by === 'text' ? textMatchesSection(state.query, pageData, actions, collection) : nothing}
      ${
        state.query && !state.sort && documents.length > 0
          ? bands(state, pageData, documents, actions, collection)
          : html`${gridView('all', documents, pageData, actions, collection)} ${moreButton(state, pageData, actions)}`
      }
      ${pageData.loading && pageData.documents.length === 0 ? skeletons() : nothing} ${emptyNote(state, pageData, actions)}
    </div>
  </div>`;
}

/** Ranked pictures in bands of similarity. Weak results are collapsed, unless there are no others. */
function bands(
  state: ViewState,
  pageData: PageData,
  ranked: readonly FoundDocument[],
  actions: Actions,
  collection: Collection,
): TemplateResult {
  const all = bandsOf(ranked, state.mode);
  const why = pageData.textMatches === null ? '' : `${TEXTS.words.byPicture}: `;
  return html`${all.map(({ name, documents }) => {
    const isLast = name === all.at(-1)?.name;
    const cards = html`${gridView(name, documents, pageData, actions, collection)} ${isLast ? moreButton(state, pageData, actions) : nothing}`;
    const title = html`<span>${why}${TEXTS.bands.names[name]}</span> <span class="about">${TEXTS.bands.about[name]}</span>`;
    if (name !== 'weak') return html`<section class="band"><h2>${title}</h2>${cards}</section>`;
    return html`<details class="band" ?open=${all.length === 1}>
      <summary><h2>${title} <span class="count">${number(documents.length)}</span></h2></summary>
      ${cards}
    </details>`;
  })}`;
}

/** Placeholders shown immediately, until the pictures are loaded. */
function skeletons(): TemplateResult {
  return html`<ul class="grid" aria-hidden="true">
    ${Array.from({ length: 12 }, () => html`<li class="skeleton"></li>`)}
  </ul>`;
}

/** Maximum depth of a ranking that the page shows. */
const MAX_RANKED = 10_000;

/** A button that is clicked automatically when it comes into view; after an error the user has to click it. */
function moreButton(
  state: ViewState,
  { numFound, documents, loading }: PageData,
  actions: Actions,
): TemplateResult | typeof nothing {
  if (numFound === null || documents.length >= numFound) return nothing;
  if (state.query && documents.length + NEXT_PAGE_SIZE > MAX_RANKED) {
    return html`<p class="note">${T.noMore}</p>`;
  }
  return html`<button class="more" ?disabled=${loading} @click=${actions.loadMore}>${loading ? T.loading : T.more}</button>`;
}

function emptyNote(state: ViewState, pageData: PageData, actions: Actions): TemplateResult | typeof nothing {
  if (pageData.loading || pageData.error || pageData.numFound !== 0) return nothing;
  const asked = state.query || state.words || state.filters.length > 0;
  const isCopyAsked = state.query !== null && state.mode === 'duplicate';
  if (asked) return html`<p class="note">${T.nothing}${isCopyAsked ? ` ${T.noCopy}` : ''}</p>`;
  return emptyCollection(state.collection, actions);
}
