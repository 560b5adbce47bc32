import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from './actions.ts';
import { type Facet, fieldTitle, filterOf, valueText } from './facets.ts';
import type { Shown } from './shown.ts';
import type { ViewState } from './view-state.ts';

/** Fields that are open before anyone opened one. */
const OPEN_FACETS = 4;
/** What the results can be narrowed by: values of fields with the number of results that have them. */
export function sidebar(state: ViewState, shown: Shown, actions: Actions): TemplateResult | typeof nothing {
  if (shown.facets.length === 0) return nothing;
  const chosen = state.filters.length;
  return html`<aside class="narrow" aria-label="Narrow the results">
    <button class="narrow-toggle" aria-expanded=${shown.narrowing} @click=${() => actions.showFacets(!shown.narrowing)}>
      Filters${chosen > 0 ? ` (${chosen})` : ''}
    </button>
    <div class=${shown.narrowing ? 'facets shown' : 'facets'}>
      ${repeat(
        shown.facets,
        ({ name }) => name,
        (one, i) => facet(one, i, state, actions),
      )}
    </div>
  </aside>`;
}

function facet(one: Facet, i: number, state: ViewState, actions: Actions): TemplateResult {
  const isChosen = one.values.some(({ value }) => state.filters.includes(filterOf(one.name, value)));
  const isBoolean = one.values.every(({ value }) => value === 'true' || value === 'false');
  return html`<details ?open=${i < OPEN_FACETS || isChosen}>
    <summary>${fieldTitle(one.name)}</summary>
    <ul>
      ${one.values.map(({ value, count }) => {
        const filter = filterOf(one.name, value);
        const pressed = state.filters.includes(filter);
        const toggle = () => (pressed ? actions.removeFilter(filter) : actions.addFilter(filter));
        return html`<li><button class="value" aria-pressed=${pressed} @click=${toggle}>
          <span>${valueText(value, isBoolean)}</span><span class="count">${count.toLocaleString()}</span>
        </button></li>`;
      })}
    </ul>
  </details>`;
}
