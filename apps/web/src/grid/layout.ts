import { html, type TemplateResult } from 'lit-html';
import type { Actions } from '../actions.ts';
import { TEXTS } from '../texts.ts';
import type { Layout } from './rows.ts';

const T = TEXTS.results;
const STORAGE_KEY = 'akin-layout';

export function loadLayout(): Layout {
  return localStorage.getItem(STORAGE_KEY) === 'rows' ? 'rows' : 'squares';
}

export function saveLayout(layout: Layout): void {
  localStorage.setItem(STORAGE_KEY, layout);
}

/** A switch between cards of one size, for products, and rows of pictures with their own aspect ratios, for photos. */
export function layoutSwitch(layout: Layout, actions: Actions): TemplateResult {
  const one = (name: Layout, icon: TemplateResult) => html`<button class="quiet" aria-pressed=${layout === name}
    aria-label=${T[name]} title=${T[name]} @click=${() => actions.setLayout(name)}>${icon}</button>`;
  return html`<span class="layouts" role="group" aria-label=${T.layout}>${one('squares', SQUARES)}${one('rows', ROWS)}</span>`;
}

const SQUARES = html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M1 1h6v6H1zM9 1h6v6H9zM1 9h6v6H1zM9 9h6v6H9z" /></svg>`;
const ROWS = html`<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M1 1h9v6H1zM12 1h3v6h-3zM1 9h4v6H1zM7 9h8v6H7z" /></svg>`;
