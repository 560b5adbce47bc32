import type { FoundDocument, SearchResponse } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { fieldTitle, filterOf } from '../facets.ts';
import type { PageData } from '../page-data.ts';
import { TEXTS } from '../texts.ts';
import type { ViewState } from '../view-state.ts';
import { eachField, eachFieldOf, eachFilter } from './each-filter.ts';

const T = TEXTS.each;

/** How many others have the same value as a document of the results. */
const others = new WeakMap<FoundDocument, number>();

export function recordOthers({ response: { docs }, expanded = {} }: SearchResponse, filters: readonly string[]): void {
  const field = eachField(filters);
  if (field === undefined) return;
  for (const document of docs) {
    const found = expanded[String(document[field])]?.numFound;
    if (found !== undefined) others.set(document, found);
  }
}

export function eachChoice(
  { filters }: ViewState,
  { facets }: PageData,
  actions: Actions,
): TemplateResult | typeof nothing {
  const chosen = eachField(filters);
  const names = facets.filter(({ multiValued, values }) => !multiValued && values.length > 2).map(({ name }) => name);
  if (chosen !== undefined && !names.includes(chosen)) names.unshift(chosen);
  if (names.length === 0) return nothing;
  const change = ({ target }: Event) => {
    const { value } = target as HTMLSelectElement;
    const others = filters.filter((filter) => eachFieldOf(filter) === undefined);
    actions.setFilters(value === '' ? others : [...others, eachFilter(value)]);
  };
  return html`<select class="order each" aria-label=${T.label} @change=${change}>
    <option value="" .selected=${chosen === undefined}>${T.all}</option>
    ${names.map((name) => html`<option value=${name} .selected=${name === chosen}>${T.each(fieldTitle(name))}</option>`)}
  </select>`;
}

export function filtersOfOthers(filters: readonly string[], document: FoundDocument): string[] {
  const field = eachField(filters) ?? '';
  return [...filters.filter((filter) => eachFieldOf(filter) === undefined), filterOf(field, String(document[field]))];
}

/** The number of others on a card, which opens them. */
export function othersButton(
  document: FoundDocument,
  actions: Actions,
  tabindex: number,
): TemplateResult | typeof nothing {
  const count = others.get(document);
  if (count === undefined) return nothing;
  const title = T.others(count);
  return html`<button class="others" tabindex=${tabindex} title=${title} aria-label=${title} @click=${() => actions.showOthers(document)}>+${count}</button>`;
}
