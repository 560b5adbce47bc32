import type { Collection } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { gridView } from './grid/grid.ts';
import type { PageData } from './page-data.ts';
import { hasQuerySyntax } from './search-box.ts';
import { TEXTS } from './texts.ts';
import type { Query, ViewState } from './view-state.ts';

const T = TEXTS.words;

/** Number of documents with the words in their text that are shown before those whose pictures match. */
export const MAX_TEXT_MATCHES = 12;
/** The maximum number of characters that akin accepts for a description. */
const MAX_TEXT_LENGTH = 1_000;

/** Whether the collection's model supports words, and these words can be searched for in pictures. */
export function canRankByText(words: string, { status }: Pick<PageData, 'status'>): boolean {
  return (
    status?.model?.words === true && words !== '' && [...words].length <= MAX_TEXT_LENGTH && !hasQuerySyntax(words)
  );
}

/** The words of the search, wherever they are searched for. */
export function wordsOf({ query, words }: Pick<ViewState, 'query' | 'words'>): string {
  return query?.by === 'text' ? query.text : words;
}

/** A choice of where to search for the words: in pictures, in the text of documents, or both. */
export function searchInSwitch(
  state: ViewState,
  pageData: PageData,
  actions: Actions,
): TemplateResult | typeof nothing {
  const words = wordsOf(state);
  if (state.query?.by !== 'text' && (state.query !== null || !canRankByText(words, pageData))) return nothing;
  const now = state.query?.by === 'text' ? state.query.searchIn : 'text';
  return html`<div class="modes" role="group" aria-label=${T.where}>
    ${(['both', 'look', 'text'] as const).map(
      (where) =>
        html`<button title=${T.about[where]} aria-pressed=${where === now} @click=${() => actions.searchByText(words, where)}>${T.names[where]}</button>`,
    )}
  </div>`;
}

/** The first documents with the words in their text, shown above those whose pictures match. */
export function textMatchesSection(
  query: Query & { by: 'text' },
  pageData: PageData,
  actions: Actions,
  collection: Collection,
): TemplateResult | typeof nothing {
  const { textMatches } = pageData;
  if (textMatches === null || textMatches.shown === 0) return nothing;
  const all = () => actions.searchByText(query.text, 'text');
  return html`<section class="band"><h2>${T.inText} <span class="about">${T.about.text}</span></h2>
    ${gridView('in-text', pageData.documents.slice(0, textMatches.shown), pageData, actions, collection)}
    ${textMatches.found > textMatches.shown ? html`<button class="quiet" @click=${all}>${T.all(textMatches.found)}</button>` : nothing}
  </section>`;
}
