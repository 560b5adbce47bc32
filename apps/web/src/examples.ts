import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { isAnalyzed, strings, titleOf } from './elements.ts';
import { filterOf } from './facets.ts';
import type { PageData } from './page-data.ts';
import { TEXTS } from './texts.ts';
import type { ViewState } from './view-state.ts';

const T = TEXTS.try;

/** Three example searches from the collection's data, shown while there is no query. */
export function examples(state: ViewState, pageData: PageData, actions: Actions): TemplateResult | typeof nothing {
  const [first, second] = pageData.documents.filter(isAnalyzed);
  if (state.query || state.words || state.filters.length > 0 || state.sort) return nothing;
  // The empty place keeps the first pictures from moving.
  if (!first) return html`<p class="chips try"></p>`;
  const [hex] = strings((second ?? first).color_palette_hex);
  const field = pageData.facets.find(({ name, values }) => name === 'labels' && values.length > 0);
  const label = field?.values[0]?.value;
  return html`<p class="chips try"><span class="about">${T.about}</span>
    <button class="chip" @click=${() => actions.searchBy({ by: 'id', id: first.id }, 'content')}>${T.like(titleOf(first))}</button>
    ${hex === undefined ? nothing : html`<button class="chip" @click=${() => actions.searchBy({ by: 'hex', hex: hex.toLowerCase() }, 'color')}>${T.color(hex.toLowerCase())}</button>`}
    ${label === undefined ? nothing : html`<button class="chip" @click=${() => actions.addFilter(filterOf('labels', label))}>${label}</button>`}
  </p>`;
}
