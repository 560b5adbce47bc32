import { html, nothing, svg, type TemplateResult } from 'lit-html';
import { ref } from 'lit-html/directives/ref.js';
import type { Box } from './boxes.ts';

/** A box with this share of the area says nothing. */
const WHOLE = 0.95;

/** A box over the picture before it in the same element, which shows the whole picture (`object-fit: contain`). */
export function boxOn([x, y, width, height]: Box): TemplateResult | typeof nothing {
  if (width * height >= WHOLE) return nothing;
  const percent = (value: number) => `${value * 100}%`;
  const edge = svg`<rect x=${percent(x)} y=${percent(y)} width=${percent(width)} height=${percent(height)} />`;
  return html`<svg class="part-box" aria-hidden="true" ${ref(fitToPicture)}>${edge}${edge}</svg>`;
}

/** Fractions are of the view box: with the sides of the picture, the browser fits it as it fits the picture. */
function fitToPicture(box: Element | undefined): void {
  // It is not in the page yet.
  requestAnimationFrame(() => {
    const image = box?.parentElement?.querySelector('img');
    if (!box || !image) return;
    const setShape = () => box.setAttribute('viewBox', `0 0 ${image.naturalWidth} ${image.naturalHeight}`);
    if (image.naturalWidth > 0) setShape();
    image.addEventListener('load', setShape);
  });
}
