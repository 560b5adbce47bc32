import type { Collection } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { gridView } from './grid/grid.ts';
import type { Shown } from './shown.ts';
import { TEXTS } from './texts.ts';
import type { Query, ViewState } from './view-state.ts';

const T = TEXTS.words;

/** Number of documents with the words in their text that are shown before those whose pictures match. */
export const IN_TEXT_FIRST = 12;
/** The maximum number of characters that akin accepts for a description. */
const LONGEST = 1_000;
/**
 * Symbols and words of the query language: a text with these asks for fields and values, not for the content of
 * pictures.
 */
const QUERY = /[:"*?()[\]{}~^\\+!/&|<>]|(^|\s)-\S|(^|\s)(AND|OR|NOT|TO)(\s|$)/;

/** Whether the collection's model supports words, and these words can be searched for in pictures. */
export function canRankByText(words: string, { status }: Pick<Shown, 'status'>): boolean {
  return status?.model?.words === true && words !== '' && [...words].length <= LONGEST && !QUERY.test(words);
}

/** The words of the search, wherever they are searched for. */
export function wordsOf({ query, words }: Pick<ViewState, 'query' | 'words'>): string {
  return query?.by === 'text' ? query.text : words;
}

/** A choice of where to search for the words: in pictures, in the text of documents, or both. */
export function whereSwitch(state: ViewState, shown: Shown, actions: Actions): TemplateResult | typeof nothing {
  const words = wordsOf(state);
  if (state.query?.by !== 'text' && (state.query !== null || !canRankByText(words, shown))) return nothing;
  const now = state.query?.by === 'text' ? state.query.where : 'text';
  return html`<div class="modes" role="group" aria-label=${T.where}>
    ${(['both', 'look', 'text'] as const).map(
      (where) =>
        html`<button title=${T.about[where]} aria-pressed=${where === now} @click=${() => actions.askWords(words, where)}>${T.names[where]}</button>`,
    )}
  </div>`;
}

/** The first documents with the words in their text, shown above those whose pictures match. */
export function inTextFirst(
  query: Query & { by: 'text' },
  shown: Shown,
  actions: Actions,
  collection: Collection,
): TemplateResult | typeof nothing {
  const { inText } = shown;
  if (inText === null || inText.shown === 0) return nothing;
  const all = () => actions.askWords(query.text, 'text');
  return html`<section class="band"><h2>${T.inText} <span class="about">${T.about.text}</span></h2>
    ${gridView('in-text', shown.documents.slice(0, inText.shown), shown, actions, collection)}
    ${inText.found > inText.shown ? html`<button class="quiet" @click=${all}>${T.all(inText.found)}</button>` : nothing}
  </section>`;
}
