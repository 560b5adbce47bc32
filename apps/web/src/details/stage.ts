import type { Collection, FoundDocument } from '@akin/client';
import { isTrash } from '@akin/domain';
import { html, nothing, type TemplateResult } from 'lit-html';
import { keyed } from 'lit-html/directives/keyed.js';
import { isAnalyzed, titleOf } from '../elements.ts';
import { isMissing } from '../file-path.ts';
import { keyedSource, setImageSource } from '../key.ts';
import type { PageData } from '../page-data.ts';
import { TEXTS } from '../texts.ts';

const T = TEXTS.details;
const ZOOMED = 'zoomed';

/**
 * The picture of a document, as large as possible. The thumbnail is shown until the original file is loaded, if akin
 * has it. Zooms to the original pixels.
 */
export function stage(document: FoundDocument, pageData: PageData, collection: Collection): TemplateResult {
  if (!isAnalyzed(document)) return html`<div class="stage"><span class="placeholder">${T.noPicture}</span></div>`;
  return html`<div class="stage">
    <div class="canvas" role="group" aria-label=${T.picture} tabindex="0" @click=${toggleAt} @pointerdown=${drag}>
      ${keyed(document.id, stagePicture(document, pageData, collection))}
    </div>
    <button class="zoom" title=${T.zoomTitle} @click=${toggleZoom}>${T.zoom}</button>
  </div>`;
}

export function stagePicture(document: FoundDocument, pageData: PageData, collection: Collection): TemplateResult {
  const original = (format?: 'webp') => collection.originalAddress(document.id, format);
  const full = hasOriginal(document, pageData);
  return html`<img class=${full ? 'small' : 'small alone'} src=${keyedSource(collection.thumbnailAddress(document.id))} alt=${titleOf(document)} />
    ${
      full
        ? html`<img class="full" src=${keyedSource(original())} alt="" hidden @load=${reveal}
            @error=${(event: Event) => convert(event, original('webp'))} />`
        : nothing
    }`;
}

/**
 * Only documents from a folder have a file, unless it is gone or they are in the trash, and only a key with the scope
 * `index` may see it.
 */
export function hasOriginal(document: FoundDocument, pageData: PageData): boolean {
  const { scope } = pageData;
  if (isInTrash(pageData)) return false;
  return typeof document.source === 'string' && !isMissing(document) && (scope === 'index' || scope === 'admin');
}

const isInTrash = ({ status }: PageData) => isTrash(status?.name ?? '');

function reveal({ target }: Event): void {
  const image = target as HTMLImageElement;
  if (image.naturalWidth <= 1) return;
  image.hidden = false;
  image.parentElement?.querySelector<HTMLElement>('.small')?.setAttribute('hidden', '');
  image.alt = image.parentElement?.querySelector<HTMLImageElement>('.small')?.alt ?? '';
}

/** Browsers do not support every format that akin reads: an unsupported picture is requested again as WebP, once. */
function convert({ target }: Event, address: string): void {
  const image = target as HTMLImageElement;
  if (image.dataset.converted !== undefined) return;
  image.dataset.converted = '';
  void setImageSource(image, address);
}

export function toggleZoom(): void {
  const canvas = globalThis.document.querySelector<HTMLElement>('.stage .canvas');
  if (canvas) zoom(canvas, 0.5, 0.5);
}

function toggleAt(event: MouseEvent): void {
  const canvas = event.currentTarget as HTMLElement;
  if (canvas.dataset.dragged !== undefined) return;
  const image = canvas.querySelector('img:not([hidden])')?.getBoundingClientRect();
  if (image === undefined) return;
  zoom(canvas, (event.clientX - image.x) / image.width, (event.clientY - image.y) / image.height);
}

/** @param x position in the picture that is centred, as a share of its width; `y` of its height */
function zoom(canvas: HTMLElement, x: number, y: number): void {
  const isZoomed = canvas.classList.toggle(ZOOMED);
  if (!isZoomed) return;
  canvas.scrollLeft = canvas.scrollWidth * x - canvas.clientWidth / 2;
  canvas.scrollTop = canvas.scrollHeight * y - canvas.clientHeight / 2;
}

export function zoomOut(): void {
  globalThis.document.querySelector(`.stage .${ZOOMED}`)?.classList.remove(ZOOMED);
}

export function isZoomed(): boolean {
  return globalThis.document.querySelector(`.stage .${ZOOMED}`) !== null;
}

function drag(down: PointerEvent): void {
  const canvas = down.currentTarget as HTMLElement;
  delete canvas.dataset.dragged;
  if (!canvas.classList.contains(ZOOMED) || down.pointerType === 'touch') return;
  down.preventDefault();
  const move = ({ movementX, movementY }: PointerEvent) => {
    canvas.scrollBy(-movementX, -movementY);
    if (Math.abs(movementX) + Math.abs(movementY) > 1) canvas.dataset.dragged = '';
  };
  canvas.setPointerCapture(down.pointerId);
  canvas.addEventListener('pointermove', move);
  canvas.addEventListener('lostpointercapture', () => canvas.removeEventListener('pointermove', move), { once: true });
}
