import { html, nothing, type TemplateResult } from 'lit-html';
import { live } from 'lit-html/directives/live.js';
import type { Actions } from '../actions.ts';
import { number } from '../format.ts';
import { TEXTS } from '../texts.ts';

const T = TEXTS.colors;

export interface WeightedColor {
  /** `#rrggbb` */
  readonly hex: string;
  /** Greater than 0; the weight relative to the other colours. */
  readonly weight: number;
}

const MAX_COLORS = 5;
const ADDED = '#808080';

/** Parses colours in the form of the URL and `rank.by.hex`: `#d02030:3,#ffffff`. */
export function readColors(text: string): WeightedColor[] {
  return text.split(',').map((one) => {
    const [hex = '', weight = ''] = one.split(':');
    const short = /^#[0-9a-f]{3}$/i.test(hex) ? hex.replace(/[0-9a-f]/gi, '$&$&') : hex;
    return { hex: short.replace(/^0x/i, '#').toLowerCase(), weight: Number(weight) > 0 ? Number(weight) : 1 };
  });
}

/** Formats colours as text, with weights only if they differ. */
export function writeColors(colors: readonly WeightedColor[]): string {
  const isEven = colors.every(({ weight }) => weight === colors[0]?.weight);
  return colors.map(({ hex, weight }) => (isEven ? hex : `${hex}:${weight}`)).join(',');
}

function showWeight({ target }: Event): void {
  const { value, nextElementSibling } = target as HTMLInputElement;
  (nextElementSibling as HTMLOutputElement).value = number(Number(value));
}

export function colorEditor(text: string, actions: Actions): TemplateResult {
  const colors = readColors(text);
  const ask = (changed: readonly WeightedColor[]) =>
    actions.searchBy({ by: 'hex', hex: writeColors(changed) }, 'color');
  const change = (i: number, part: Partial<WeightedColor>) =>
    ask(colors.map((color, at) => (at === i ? { ...color, ...part } : color)));
  const value = (event: Event) => (event.target as HTMLInputElement).value;
  return html`<div class="colors" role="group" aria-label=${T.group}>
    ${colors.map(
      ({ hex, weight }, i) => html`<span class="one-color">
        <input type="color" aria-label=${T.color(i + 1)} .value=${hex} @change=${(event: Event) => change(i, { hex: value(event) })} />
        ${
          colors.length < 2
            ? nothing
            : html`<input type="range" min="1" max="10" .value=${String(weight)} aria-label=${T.share(i + 1)}
                  @input=${showWeight} @change=${(event: Event) => change(i, { weight: Number(value(event)) })} />
                <output .value=${live(number(weight))}></output>
                <button class="quiet" aria-label=${T.remove(i + 1)} @click=${() => ask(colors.filter((_, at) => at !== i))}>×</button>`
        }
      </span>`,
    )}
    ${
      colors.length < MAX_COLORS
        ? html`<button class="quiet" @click=${() => ask([...colors, { hex: ADDED, weight: colors[0]?.weight ?? 1 }])}>${T.add}</button>`
        : nothing
    }
  </div>`;
}
