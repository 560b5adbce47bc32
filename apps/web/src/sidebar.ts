import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from './actions.ts';
import { COLORS } from './colors.ts';
import { type Facet, fieldTitle, filterOf, valueText } from './facets.ts';
import { number } from './format.ts';
import type { Shown } from './shown.ts';
import { TEXTS } from './texts.ts';
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
  if (one.name === 'copyspace') return copyspace(one, state, actions);
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
          ${one.name === 'color_names' ? swatch(value) : nothing}<span>${valueText(value, isBoolean)}</span><span class="count">${number(count)}</span>
        </button></li>`;
      })}
    </ul>
  </details>`;
}

/** The part of the picture that has room for text, to be clicked where it lies. */
function copyspace({ name, values }: Facet, state: ViewState, actions: Actions): TemplateResult {
  return html`<details open>
    <summary>${fieldTitle(name)}</summary>
    <div class="copyspace" role="group" aria-label=${fieldTitle(name)}>
      ${TEXTS.parts.map((part, i) => {
        const filter = filterOf(name, String(i));
        const pressed = state.filters.includes(filter);
        const count = values.find(({ value }) => value === String(i))?.count ?? 0;
        const toggle = () => (pressed ? actions.removeFilter(filter) : actions.addFilter(filter));
        return html`<button aria-pressed=${pressed} aria-label=${part} title=${`${part}: ${number(count)}`} ?disabled=${count === 0 && !pressed} @click=${toggle}></button>`;
      })}
    </div>
  </details>`;
}

function swatch(name: string): TemplateResult {
  return html`<svg class="dot" viewBox="0 0 2 2" aria-hidden="true"><circle cx="1" cy="1" r="0.94" fill=${COLORS[name] ?? 'none'} /></svg>`;
}
