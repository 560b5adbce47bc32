import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import type { PageData } from './page-data.ts';
import { hasQuerySyntax } from './search-box.ts';
import { TEXTS } from './texts.ts';
import type { ViewState } from './view-state.ts';

const T = TEXTS.waysOn;

export function waysOnView(state: ViewState, pageData: PageData, actions: Actions): TemplateResult | typeof nothing {
  const isForPictures = state.words !== '' && !hasQuerySyntax(state.words);
  const lacksWords = isForPictures && pageData.scope === 'admin' && pageData.status?.model?.words === false;
  const hasFilters = state.words !== '' && state.filters.length > 0;
  return html`<div class="ways-on">
    ${pageData.waysOn.map(
      ({ kind, words, found }) =>
        html`<button @click=${() => actions.searchByText(words, 'text')}>${T[kind](state.words, found)}</button>`,
    )}
    ${hasFilters ? html`<button @click=${() => actions.setFilters([])}>${T.withoutFilters}</button>` : nothing}
    ${
      lacksWords
        ? html`<p class="line"><span class="about">${T.model}</span> <button @click=${actions.showManage}>${T.models}</button></p>`
        : nothing
    }
  </div>`;
}
