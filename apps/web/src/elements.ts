import type { Collection, FoundDocument, Plain } from '@akin/client';
import { MODULES } from '@akin/modules/manifests';
import { html, nothing, svg, type TemplateResult } from 'lit-html';
import { isMissing } from './file-path.ts';
import { keyedSource } from './key.ts';
import { TEXTS } from './texts.ts';

/** Names of the fields that the analysis computes. */
export const OUTPUTS: ReadonlySet<string> = new Set(MODULES.flatMap(({ outputs }) => outputs.map(({ name }) => name)));

export function isAnalyzed(document: FoundDocument): boolean {
  return Object.keys(document).some((name) => OUTPUTS.has(name));
}

/**
 * The thumbnail of a document, or a note that there is none. Pictures on other servers are not loaded: the page sends
 * requests only to akin.
 */
export function picture(document: FoundDocument, collection: Collection): TemplateResult {
  if (!isAnalyzed(document)) return html`<span class="placeholder">${TEXTS.details.noPicture}</span>`;
  return html`<img loading="lazy" src=${keyedSource(collection.thumbnailAddress(document.id))} alt=${titleOf(document)}
    @error=${showColors} @load=${showPicture} />${isMissing(document) ? html`<span class="gone">${TEXTS.gone}</span>` : nothing}`;
}

/** Marks a picture without a thumbnail: the style sheet shows the colours in its place. */
function showColors({ target }: Event): void {
  (target as Element).parentElement?.classList.add('missing');
}

function showPicture({ target }: Event): void {
  (target as Element).parentElement?.classList.remove('missing');
}

export function paletteOf(document: FoundDocument, size?: 'big', onPick?: (hex: string) => void): TemplateResult {
  const shares = Array.isArray(document.color_palette_freq) ? document.color_palette_freq.map(Number) : [];
  return palette(strings(document.color_palette_hex), size, shares, onPick);
}

export function palette(
  colours: readonly string[],
  size: 'small' | 'big' = 'small',
  shares: readonly number[] = [],
  onPick?: (hex: string) => void,
): TemplateResult {
  const known = colours.flatMap((colour, index) =>
    /^(#|0x)[0-9a-f]{6}$/i.test(colour) ? [{ hex: colour.replace(/^0x/i, '#'), share: shares[index] ?? 1 }] : [],
  );
  const before = known.map((_, index) => known.slice(0, index).reduce((sum, { share }) => sum + share, 0));
  const total = known.reduce((sum, { share }) => sum + share, 0);
  return html`<svg class="palette ${size}" viewBox="0 0 ${total || 1} 1" preserveAspectRatio="none" aria-hidden="true">
    ${known.map(
      (
        { hex, share },
        index,
      ) => svg`<rect x=${before[index]} width=${share} height="1" fill=${hex} class=${onPick ? 'pickable' : ''} @click=${() => onPick?.(hex)}>
        <title>${hex}</title></rect>`,
    )}
  </svg>`;
}

export function titleOf(document: FoundDocument): string {
  return typeof document.title === 'string' && document.title ? document.title : document.id;
}

/** Three digits, but never 1 for a picture that is not identical. */
export function scoreText(score: number): string {
  return score === 1 ? '1' : Math.min(score, 0.999).toFixed(3);
}

export function strings(value: Plain | undefined): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}
