import type { Collection, FoundDocument } from '@akin/client';
import { html, nothing, type TemplateResult } from 'lit-html';
import { repeat } from 'lit-html/directives/repeat.js';
import type { Actions } from '../actions.ts';
import { cardFieldsLine } from '../card-fields.ts';
import { boxOn } from '../common-parts/box-view.ts';
import { boxesOf } from '../common-parts/boxes.ts';
import { paletteOf, picture, scoreText, strings, titleOf } from '../elements.ts';
import { isMissing, pathOf } from '../file-path.ts';
import { othersButton } from '../filters/one-of-each.ts';
import { similarTo } from '../modes.ts';
import type { PageData } from '../page-data.ts';
import { TEXTS } from '../texts.ts';
import {
  justify,
  type Layout,
  type RenderedRange,
  type Row,
  renderedRange,
  shownRatio,
  tile,
  withHeadings,
} from './rows.ts';

const T = TEXTS.results;

/** Up to this number, all cards are rendered: the browser's text search works, and scrolling is smooth. */
const MAX_UNVIRTUALIZED = 300;
/** Approximate height of rows of pictures: on a wide screen, and on a phone. */
const ROW_HEIGHTS = [190, 120] as const;
const PHONE_WIDTH = 560;
/** Rendered above and below the visible part, in CSS pixels. */
const MARGIN = 1_500;
/** More results are loaded when the end is nearer than this, in CSS pixels. */
const NEAR = 900;

/** A grid of the page: its documents, and the size of the grid and its cards in CSS pixels. */
interface Grid {
  documents: readonly FoundDocument[];
  headings: ReadonlyMap<number, string>;
  headingHeight: number;
  layout: Layout;
  width: number;
  gap: number;
  columns: number;
  cardHeight: number;
  rendered: RenderedRange;
}

/** Grids by name. These measurements are derived from the page and used only in this file. */
const grids = new Map<string, Grid>();
/** Aspect ratios of loaded pictures, by the id of the document. */
const ratios = new Map<string, number>();

function gridOf(
  name: string,
  documents: readonly FoundDocument[],
  headings: ReadonlyMap<number, string>,
  layout: Layout,
): Grid {
  const before = grids.get(name);
  const size = before ?? { width: 1_000, gap: 14, columns: 6, cardHeight: 270, headingHeight: 40 };
  const first = { from: 0, to: Math.min(documents.length, MAX_UNVIRTUALIZED), before: 0, spaceAfter: 0 };
  const isAll = documents.length <= MAX_UNVIRTUALIZED || before === undefined || before.layout !== layout;
  const grid = { ...size, documents, headings, layout, rendered: isAll ? first : before.rendered };
  grids.set(name, grid);
  return grid;
}

function rowsOf({ documents, headings, layout, width, gap, columns, cardHeight, headingHeight }: Grid): Row[] {
  return withHeadings(documents.length, [...headings.keys()], headingHeight, (from, to) => {
    if (layout === 'squares') return tile(to - from, columns, cardHeight);
    return justify(documents.slice(from, to).map(ratioOf), width, ROW_HEIGHTS[width < PHONE_WIDTH ? 1 : 0], gap);
  });
}

function ratioOf({ id, width, height }: FoundDocument): number {
  return ratios.get(id) ?? (Number(width) > 0 && Number(height) > 0 ? Number(width) / Number(height) : 1);
}

interface GridOptions {
  readonly showsScores?: boolean;
  readonly headings?: ReadonlyMap<number, string>;
}

const NO_HEADINGS: ReadonlyMap<number, string> = new Map();

/**
 * Renders documents as cards. Of a long list, only the cards in or near the visible part are rendered.
 *
 * @param name distinguishes the grids of a page
 * @param options.headings texts above documents, by their index
 */
export function gridView(
  name: string,
  documents: readonly FoundDocument[],
  pageData: PageData,
  actions: Actions,
  collection: Collection,
  { showsScores = true, headings = NO_HEADINGS }: GridOptions = {},
): TemplateResult {
  const grid = gridOf(name, documents, headings, pageData.layout);
  const { from, to, before, spaceAfter } = grid.rendered;
  const some = documents.slice(from, to);
  const sizes = pageData.layout === 'rows' ? sizesOf(grid) : undefined;
  // Only one card of a grid is reachable by Tab; arrow keys move to the others.
  const current = some.some(({ id }) => id === pageData.current) ? pageData.current : some[0]?.id;
  return html`<ul class="grid ${pageData.layout}" data-grid=${name} style=${`padding: ${before}px 0 ${spaceAfter}px`}
    @focusin=${(event: Event) => actions.setCurrent(cardOf(event)?.dataset.id ?? null)}
    @load=${{ handleEvent: recordAspectRatio, capture: true }}>
    ${repeat(
      some,
      ({ id }) => id,
      (document, i) =>
        html`${heading(headings.get(from + i))}${card(document, {
          pageData,
          actions,
          collection,
          isCurrent: document.id === current,
          showsScores,
          style: sizes?.get(from + i) ?? '',
          at: from + i,
          of: documents.length,
        })}`,
    )}
  </ul>`;
}

function heading(text: string | undefined): TemplateResult | typeof nothing {
  return text === undefined ? nothing : html`<li class="month"><h2>${text}</h2></li>`;
}

function sizesOf(grid: Grid): Map<number, string> {
  const { from, to } = grid.rendered;
  const sizes = new Map<number, string>();
  for (const row of rowsOf(grid)) {
    if (row.to <= from || row.from >= to) continue;
    for (let i = row.from; i < row.to; i += 1) {
      const ratio = shownRatio(ratioOf(grid.documents[i] as FoundDocument));
      // Round down, so that the last card of a row fits.
      sizes.set(i, `width: ${Math.floor(ratio * row.height * 100) / 100}px; height: ${row.height}px`);
    }
  }
  return sizes;
}

interface Card {
  readonly pageData: PageData;
  readonly actions: Actions;
  readonly collection: Collection;
  readonly isCurrent: boolean;
  readonly showsScores: boolean;
  readonly style: string;
  readonly at: number;
  readonly of: number;
}

function card(
  document: FoundDocument,
  { pageData, actions, collection, isCurrent, showsScores, style, at, of }: Card,
): TemplateResult {
  const name = titleOf(document);
  const about = isMissing(document) ? `${name}. ${TEXTS.missing(pathOf(document) ?? document.id)}` : name;
  const isSelected = pageData.selected.has(document.id);
  const toggle = (event: MouseEvent) => actions.select(document.id, { range: event.shiftKey });
  const tab = isCurrent ? 0 : -1;
  const part = boxesOf(document)?.document;
  const isPart = of > MAX_UNVIRTUALIZED;
  return html`<li class=${`card${isSelected ? ' selected' : ''}`} data-id=${document.id} style=${style}
    aria-posinset=${isPart ? at + 1 : nothing} aria-setsize=${isPart ? of : nothing}>
    <button class="picture" title=${about} tabindex=${tab} @click=${() => actions.open(document)}>
      ${picture(document, collection)} ${part ? boxOn(part) : nothing}
      ${document.score === undefined || !showsScores ? nothing : html`<span class="score" title=${T.scoreTitle}>${scoreText(document.score)}</span>`}
      ${labelsOn(document)}
    </button>
    ${othersButton(document, actions, tab)}
    <input class="select" type="checkbox" tabindex=${tab} aria-label=${T.select(name)} .checked=${isSelected} @click=${toggle} />
    ${paletteOf(document)}
    <p class="name">${name}</p>
    ${cardFieldsLine(document, pageData.cardFields)}
    <div class="card-actions">${similarTo(document, actions, tab)}</div>
  </li>`;
}

const MAX_LABELS = 2;

function labelsOn(document: FoundDocument): TemplateResult | typeof nothing {
  const labels = strings(document.labels);
  if (labels.length === 0) return nothing;
  const more = labels.length - MAX_LABELS;
  return html`<span class="card-labels">${labels.slice(0, MAX_LABELS).map((label) => html`<span>${label}</span>`)}${more > 0 ? html`<span>+${more}</span>` : nothing}</span>`;
}

function cardOf({ target }: Event): HTMLElement | null {
  return (target as Element).closest<HTMLElement>('.card');
}

function recordAspectRatio(event: Event): void {
  const id = cardOf(event)?.dataset.id;
  const { naturalWidth, naturalHeight } = event.target as HTMLImageElement;
  if (id === undefined || naturalHeight === 0) return;
  const before = ratios.get(id);
  ratios.set(id, naturalWidth / naturalHeight);
  if (before === undefined && grids.get('all')?.layout !== 'squares') schedule?.(true);
}

let schedule: ((isChanged: boolean) => void) | undefined;

/**
 * Renders the grids again when the page is scrolled or resized, or when a loaded picture has another aspect ratio.
 *
 * @param draw renders the page
 * @param atEnd is called when the end of the list is near
 */
export function watchGrids(draw: () => void, atEnd: () => void): void {
  let isWaiting = false;
  let mustDraw = false;
  schedule = (isChanged) => {
    mustDraw ||= isChanged;
    if (isWaiting) return;
    isWaiting = true;
    requestAnimationFrame(() => {
      isWaiting = false;
      if (measureGrids() || mustDraw) draw();
      mustDraw = false;
      const more = document.querySelector('.found .more')?.getClientRects()[0];
      if (more && more.top < innerHeight + NEAR) atEnd();
    });
  };
  addEventListener('scroll', updateGrids, { passive: true });
  addEventListener('resize', updateGrids);
}

/** Measures the grids again after the page was rendered. */
export function updateGrids(): void {
  schedule?.(false);
}

/**
 * Measures the visible grids.
 *
 * @returns whether another part must be rendered, or cards have changed size
 */
function measureGrids(): boolean {
  let hasChanged = false;
  const elements = [...document.querySelectorAll<HTMLElement>('ul[data-grid]')];
  for (const name of grids.keys()) if (!elements.some(({ dataset }) => dataset.grid === name)) grids.delete(name);
  for (const element of elements) {
    const grid = grids.get(element.dataset.grid ?? '');
    const card = element.querySelector<HTMLElement>('.card');
    if (grid === undefined || card === null || element.clientWidth === 0) continue;
    const style = getComputedStyle(element);
    const before = renderKey(grid);
    grid.width = element.clientWidth;
    grid.gap = Number.parseFloat(style.rowGap) || 0;
    grid.headingHeight = element.querySelector<HTMLElement>('.month')?.offsetHeight ?? grid.headingHeight;
    if (grid.layout === 'squares') {
      grid.columns = style.gridTemplateColumns.split(' ').length;
      grid.cardHeight = card.offsetHeight;
    }
    if (grid.documents.length > MAX_UNVIRTUALIZED) {
      const { top } = element.getBoundingClientRect();
      grid.rendered = renderedRange(rowsOf(grid), grid.gap, -top - MARGIN, innerHeight - top + MARGIN);
    }
    hasChanged ||= before !== renderKey(grid);
  }
  return hasChanged;
}

function renderKey({ rendered, layout, width, gap }: Grid): string {
  return JSON.stringify([rendered, layout === 'rows' ? [width, gap] : 0]);
}
