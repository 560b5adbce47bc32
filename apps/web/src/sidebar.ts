import { html, nothing, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from './actions.ts';
import { isFilling } from './add/empty.ts';
import { COLORS } from './colors.ts';
import { type Facet, fieldTitle, filterOf, VALUES, valueText } from './facets.ts';
import { type Place, RADII, readPlace, replacePlaceFilter } from './filters/places.ts';
import { rangeSlider } from './filters/slider.ts';
import { number } from './format.ts';
import type { PageData } from './page-data.ts';
import { TEXTS } from './texts.ts';
import type { ViewState } from './view-state.ts';

const OPEN_FACETS = 4;
const OPEN_RANGES = 2;
const T = TEXTS.filters;

/** The filters of the results: values of fields with the number of results for each. */
export function sidebar(state: ViewState, pageData: PageData, actions: Actions): TemplateResult | typeof nothing {
  const place = state.filters.map(readPlace).find((one) => one !== undefined);
  // Until they are counted, and until the first documents have any, their empty place keeps the pictures from moving.
  const isComing = pageData.counting || pageData.numFound === 0 || isFilling(pageData);
  // Scores of colours have no common scale.
  const hasScores = state.query !== null && state.query.by !== 'hex';
  if (pageData.facets.length + pageData.ranges.length === 0 && place === undefined && !isComing && !hasScores)
    return nothing;
  return html`<aside class="narrow" aria-label=${T.region} aria-busy=${pageData.counting}>
    <div class=${pageData.filtersVisible ? 'facets shown' : 'facets'}>
      ${hasScores ? minScore(state, actions) : nothing}
      ${repeat(
        pageData.facets,
        ({ name }) => name,
        (one, i) => facet(one, i, state, pageData, actions),
      )}
      ${repeat(
        pageData.ranges,
        ({ name }) => name,
        (one, i) => rangeSlider(one, pageData.histograms.get(one.name) ?? [], i < OPEN_RANGES, state, actions),
      )}
      ${place ? radius(place, state, actions) : nothing}
    </div>
  </aside>`;
}

export function filtersToggle(state: ViewState, pageData: PageData, actions: Actions): TemplateResult {
  return html`<button class="narrow-toggle" aria-expanded=${pageData.filtersVisible} @click=${() => actions.showFacets(!pageData.filtersVisible)}>
    ${T.toggle(state.filters.length)}
  </button>`;
}

function minScore(state: ViewState, actions: Actions): TemplateResult {
  return html`<label class="least">${TEXTS.results.least}
    <input type="range" min="0" max="1" step="0.05" .value=${String(state.minScore)} aria-valuetext=${state.minScore.toFixed(2)}
      @change=${(event: Event) => actions.setThreshold(Number((event.target as HTMLInputElement).value))} />
    <output>${state.minScore.toFixed(2)}</output>
  </label>`;
}

function facet(one: Facet, i: number, state: ViewState, pageData: PageData, actions: Actions): TemplateResult {
  if (one.name === 'copyspace') return copyspace(one, state, actions);
  const isChosen =
    pageData.facetSearches.has(one.name) ||
    one.values.some(({ value }) => state.filters.includes(filterOf(one.name, value)));
  const contains = pageData.facetSearches.get(one.name);
  const isBoolean = one.values.every(({ value }) => value === 'true' || value === 'false');
  return html`<details ?open=${i < OPEN_FACETS || isChosen}>
    <summary>${fieldTitle(one.name)}</summary>
    ${contains === undefined ? nothing : findBox(one.name, contains, actions)}
    <ul class=${contains === undefined ? '' : 'long'}>
      ${one.values.map(({ value, count }) => {
        const filter = filterOf(one.name, value);
        const pressed = state.filters.includes(filter);
        const toggle = () => (pressed ? actions.removeFilter(filter) : actions.addFilter(filter));
        return html`<li><button class="value" aria-pressed=${pressed} @click=${toggle}>
          ${one.name === 'color_names' ? swatch(value) : nothing}<span>${valueText(value, isBoolean)}</span><span class="count">${number(count)}</span>
        </button></li>`;
      })}
    </ul>
    ${contains !== undefined && one.values.length === 0 ? html`<p class="about">${T.none}</p>` : nothing}
    ${
      contains !== undefined || (!isBoolean && one.values.length >= VALUES)
        ? html`<button class="quiet small-button" aria-expanded=${contains !== undefined}
            aria-label=${`${fieldTitle(one.name)}: ${contains === undefined ? T.more : T.less}`}
            @click=${() => actions.findValues(one.name, contains === undefined ? '' : null)}>${contains === undefined ? T.more : T.less}</button>`
        : nothing
    }
  </details>`;
}

/** Case is ignored. */
function findBox(field: string, contains: string, actions: Actions): TemplateResult {
  const find = ({ target }: Event) => actions.findValues(field, (target as HTMLInputElement).value);
  const name = T.find(fieldTitle(field));
  return html`<input type="search" class="find" aria-label=${name} placeholder=${name} .value=${live(contains)} @input=${find} />`;
}

function radius(place: Place, state: ViewState, actions: Actions): TemplateResult {
  const choose = ({ target }: Event) => {
    const kilometers = Number((target as HTMLSelectElement).value);
    actions.setFilters(replacePlaceFilter(state, { ...place, kilometers }));
  };
  return html`<details open>
    <summary>${T.place}</summary>
    <select class="radius" aria-label=${T.radius} @change=${choose}>
      ${[...new Set([...RADII, place.kilometers])]
        .sort((a, b) => a - b)
        .map(
          (one) => html`<option value=${one} .selected=${one === place.kilometers}>${T.nearby(number(one))}</option>`,
        )}
    </select>
  </details>`;
}

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
