import { html, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { fieldTitle } from '../facets.ts';
import { TEXTS } from '../texts.ts';
import type { ViewState } from '../view-state.ts';
import { escapeName } from './names.ts';
import type { NamedRange } from './ranges.ts';

const T = TEXTS.order;

export function orderChoice(state: ViewState, ranges: readonly NamedRange[], actions: Actions): TemplateResult {
  const first = state.query ? T.nearest : state.words ? T.best : T.shuffled;
  const named = (text: string) => (state.query ? T.relevant(text) : text);
  const fields = ranges.flatMap(({ name, type }): [string, string][] => {
    const title = fieldTitle(name);
    const isDate = type === 'date';
    return [
      [`${escapeName(name)} desc`, named(isDate ? T.newest(title) : T.descending(title))],
      [`${escapeName(name)} asc`, named(isDate ? T.oldest(title) : T.ascending(title))],
    ];
  });
  const known: [string, string][] = [['', first], ...fields];
  // An order from the URL that the list does not contain.
  if (!known.some(([sort]) => sort === state.sort)) known.push([state.sort, state.sort]);
  const change = ({ target }: Event) => actions.setOrder((target as HTMLSelectElement).value);
  return html`<select class="order" aria-label=${T.label} @change=${change}>
    ${known.map(([sort, name]) => html`<option value=${sort} .selected=${sort === state.sort}>${name}</option>`)}
  </select>`;
}
