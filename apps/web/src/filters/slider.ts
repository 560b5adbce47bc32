import { html, nothing, svg, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import type { Actions } from '../actions.ts';
import { fieldTitle } from '../facets.ts';
import { day, moment, number } from '../format.ts';
import { TEXTS } from '../texts.ts';
import type { ViewState } from '../view-state.ts';
import { chosenRange, isRangeOf, type RangeField, rangeFilter, type Scale, scaleOf, valueAt } from './ranges.ts';

const T = TEXTS.filters;

/** A histogram of a field's values in the results, and two sliders to choose a range. */
export function rangeSlider(
  field: RangeField,
  counts: readonly number[],
  isOpen: boolean,
  state: ViewState,
  actions: Actions,
): TemplateResult {
  const scale = scaleOf(field);
  const title = fieldTitle(field.name);
  const { from, to } = chosenRange(state.filters, field);
  const low = from === null ? 0 : stepsOf(scale, from);
  const high = to === null ? scale.steps : stepsOf(scale, to);
  const text = (step: number) => shownValue(field, valueAt(scale, step));
  const slider = (
    name: string,
    at: number,
    isLow: boolean,
  ) => html`<input type="range" class=${isLow ? 'low' : 'high'} min="0"
    max=${scale.steps} .value=${String(at)} aria-label=${name} aria-valuetext=${text(at)}
    @input=${(event: Event) => follow(event, text)} @change=${(event: Event) => choose(event, field, scale, state, actions)} />`;
  return html`<details ?open=${isOpen || from !== null || to !== null}>
    <summary>${title}</summary>
    <div class="range">
      ${counts.length > 0 ? histogram(counts, low / scale.steps, high / scale.steps, T.spread(title)) : nothing}
      <div class="two-sliders">${slider(T.least(title), low, true)}${slider(T.most(title), high, false)}</div>
      <p class="bounds"><output class="low" .value=${live(text(low))}></output><output class="high" .value=${live(text(high))}></output></p>
    </div>
  </details>`;
}

/** @param low position where the chosen range starts, as a share of the width; `high` where it ends */
function histogram(counts: readonly number[], low: number, high: number, title: string): TemplateResult {
  const most = Math.max(1, ...counts);
  const width = 1 / counts.length;
  return html`<svg class="histogram" viewBox="0 0 ${counts.length} 20" preserveAspectRatio="none" role="img" aria-label=${title}>
    ${counts.map((count, i) => {
      const middle = (i + 0.5) * width;
      // Makes small counts visible next to large ones.
      const height = count === 0 ? 0 : Math.max(1.5, (count / most) * 20);
      const isIn = middle >= low && middle <= high;
      return svg`<rect x=${i + 0.08} y=${20 - height} width="0.84" height=${height} class=${isIn ? 'in' : ''}></rect>`;
    })}
  </svg>`;
}

function stepsOf({ start, step, steps }: Scale, value: number): number {
  return Math.min(steps, Math.max(0, Math.round((value - start) / step)));
}

function sliders(target: EventTarget | null) {
  const box = (target as Element).closest('.range') as Element;
  const find = <Kind extends Element>(selector: string) => box.querySelector(selector) as Kind;
  return {
    low: find<HTMLInputElement>('input.low'),
    high: find<HTMLInputElement>('input.high'),
    lowText: find<HTMLOutputElement>('output.low'),
    highText: find<HTMLOutputElement>('output.high'),
  };
}

/** Shows the values while the sliders move; they cannot cross. */
function follow({ target }: Event, text: (step: number) => string): void {
  const { low, high, lowText, highText } = sliders(target);
  if (Number(low.value) > Number(high.value)) {
    if (target === low) low.value = high.value;
    else high.value = low.value;
  }
  lowText.value = text(Number(low.value));
  highText.value = text(Number(high.value));
}

/** A slider at its end position sets no bound. */
function choose({ target }: Event, field: RangeField, scale: Scale, state: ViewState, actions: Actions): void {
  const { low, high } = sliders(target);
  const [from, to] = [Number(low.value), Number(high.value)];
  const filter = rangeFilter(field, {
    from: from === 0 ? null : valueAt(scale, from),
    to: to === scale.steps ? null : valueAt(scale, to),
  });
  const others = state.filters.filter((one) => !isRangeOf(one, field));
  actions.setFilters(filter === undefined ? others : [...others, filter]);
}

function shownValue({ type, min, max }: RangeField, value: number): string {
  if (type !== 'date') return number(value);
  const iso = new Date(value).toISOString();
  return max - min < 3 * 86_400_000 ? moment(iso) : day(iso);
}
