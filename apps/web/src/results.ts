import type { Collection, FoundDocument } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { emptyCollection } from './add/empty.ts';
import { aboutBand, bandsOf, countRelated } from './bands.ts';
import { periodList } from './filters/period-list.ts';
import { monthHeadings } from './filters/periods.ts';
import { gridView } from './grid/grid.ts';
import type { PageData } from './page-data.ts';
import { sidebar } from './sidebar.ts';
import { TEXTS } from './texts.ts';
import type { ViewState } from './view-state.ts';
import { waysOnView } from './ways-on-view.ts';
import { textMatchesSection } from './words.ts';

export const PAGE_SIZE = 48;
/** Number of documents in later requests, when the user scrolls to weaker results. */
export const NEXT_PAGE_SIZE = 96;

const T = TEXTS.results;

export function resultsView(
  state: ViewState,
  pageData: PageData,
  actions: Actions,
  collection: Collection,
): TemplateResult {
  const documents = otherDocuments(state, pageData);
  return html`<div class="results">
    ${sidebar(state, pageData, actions)}
    <div class="found">
      ${periodList(state, pageData, actions)}
      ${state.query?.by === 'text' ? textMatchesSection(state.query, pageData, actions, collection) : nothing}
      ${
        state.query && !isByColor(state) && !state.sort && documents.length > 0
          ? bands(state, pageData, documents, actions, collection)
          : html`${gridView('all', documents, pageData, actions, collection, { showsScores: !isByColor(state), headings: monthHeadings(documents, state.sort) })} ${moreButton(state, pageData, actions)}`
      }
      ${pageData.loading && pageData.documents.length === 0 ? skeletons() : nothing} ${emptyNote(state, pageData, actions)}
    </div>
  </div>`;
}

/** Scores of colours have no common scale: that of the best picture for pure red is 0.25. So they have no bands. */
function isByColor({ query }: ViewState): boolean {
  return query?.by === 'hex';
}

/** The results without the picture of the query, which the header shows, and without matches in the text. */
function otherDocuments({ query }: ViewState, { documents, textMatches }: PageData): readonly FoundDocument[] {
  const ranked = documents.slice(textMatches?.shown ?? 0);
  return query?.by === 'id' ? ranked.filter(({ id }) => id !== query.id) : ranked;
}

/** How many results there are. Of a ranking, which orders all pictures, only those that are related count. */
export function resultCountText(state: ViewState, pageData: PageData): string {
  const { numFound, textMatches } = pageData;
  if (numFound === null) return pageData.loading ? T.searching : '';
  if (textMatches !== null) return TEXTS.words.found(textMatches.found, numFound - textMatches.shown);
  const documents = otherDocuments(state, pageData);
  const others = numFound - (pageData.documents.length - documents.length);
  if (state.query === null || state.sort) return T.found(others);
  if (isByColor(state)) return T.nearestColors(others);
  if (state.minScore > 0 || state.mode === 'duplicate') return T.nearest(others);
  const related = countRelated(documents, state.mode, documents.length === others);
  return T.similar(related.count, related.isExact);
}

function bands(
  state: ViewState,
  pageData: PageData,
  ranked: readonly FoundDocument[],
  actions: Actions,
  collection: Collection,
): TemplateResult {
  const all = bandsOf(ranked, state.mode);
  const why = pageData.textMatches === null ? '' : `${TEXTS.words.byPicture}: `;
  return html`${all.map(
    ({ name, documents }) => html`<section class="band">
      <h2><span>${why}${TEXTS.bands.names[name]}</span> <span class="about">${aboutBand(name, state.mode)}</span></h2>
      ${gridView(name, documents, pageData, actions, collection)}
    </section>`,
  )}
  ${moreButton(state, pageData, actions)}`;
}

function skeletons(): TemplateResult {
  return html`<ul class="grid" aria-hidden="true">
    ${Array.from({ length: 12 }, () => html`<li class="skeleton"></li>`)}
  </ul>`;
}

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
  const isEmpty = pageData.numFound === 0 || (pageData.numFound === 1 && otherDocuments(state, pageData).length === 0);
  if (pageData.loading || pageData.error || !isEmpty) return nothing;
  const asked = state.query || state.words || state.filters.length > 0;
  const isCopyAsked = state.query !== null && state.mode === 'duplicate';
  if (asked)
    return html`<p class="note">${T.nothing}${isCopyAsked ? ` ${T.noCopy}` : ''}</p>${waysOnView(state, pageData, actions)}`;
  return emptyCollection(state.collection, pageData, actions);
}
