import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { number } from '../format.ts';
import type { PageData } from '../page-data.ts';
import { TEXTS } from '../texts.ts';
import type { ViewState } from '../view-state.ts';
import { dateOrder, type Period, periodName } from './periods.ts';
import { isRangeOf, rangeFilter } from './ranges.ts';

const MIN_DOCUMENTS = 100;

/** A list of months or years at the side of long results, to go to one of them. */
export function periodList(state: ViewState, pageData: PageData, actions: Actions): TemplateResult | typeof nothing {
  const { periods, ranges } = pageData;
  const order = dateOrder(state.sort, ranges);
  const total = periods.reduce((sum, { count }) => sum + count, 0);
  if (order === undefined || periods.length < 2 || total < MIN_DOCUMENTS) return nothing;
  const { field, isNewestFirst } = order;
  const go = ({ start, end }: Period) => {
    const bounds = isNewestFirst ? { from: null, to: end - 86_400_000 } : { from: start, to: null };
    const filter = rangeFilter(field, bounds);
    const others = state.filters.filter((one) => !isRangeOf(one, field));
    actions.setFilters(filter === undefined ? others : [...others, filter]);
  };
  return html`<nav class="periods" aria-label=${TEXTS.periods.region}>
    ${(isNewestFirst ? [...periods].reverse() : periods).map(
      (period) =>
        html`<button class="quiet" @click=${() => go(period)}>${periodName(period, field)} <span class="count">${number(period.count)}</span></button>`,
    )}
  </nav>`;
}
