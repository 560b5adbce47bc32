import type { FoundDocument, Plain } from '@akin/client';
import { isTrash } from '@akin/domain';
import { html, nothing, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { saveCsv } from './csv.ts';
import type { Model } from './model.ts';
import type { PageData } from './page-data.ts';
import { TEXTS } from './texts.ts';

const T = TEXTS.selection;

/** The first document of a range. */
let anchor: string | undefined;

/**
 * Toggles the selection of a document; with `range`, selects everything between it and the previously selected
 * document.
 */
export function select(model: Model, id: string, { range }: { readonly range: boolean }): void {
  const ids = model.pageData.documents.map((document) => document.id);
  const selected = new Set(model.pageData.selected);
  const from = anchor === undefined ? -1 : ids.indexOf(anchor);
  const to = ids.indexOf(id);
  const isOn = !selected.has(id);
  const some = range && from >= 0 && to >= 0 ? ids.slice(Math.min(from, to), Math.max(from, to) + 1) : [id];
  for (const one of some) isOn ? selected.add(one) : selected.delete(one);
  anchor = id;
  model.update({ selected });
}

/** Selects the range between two documents, in addition to others. */
export function selectBetween(model: Model, others: ReadonlySet<string>, from: string, to: string): void {
  const ids = model.pageData.documents.map((document) => document.id);
  const [first, last] = [ids.indexOf(from), ids.indexOf(to)].sort((a, b) => a - b) as [number, number];
  anchor = from;
  model.update({ selected: new Set([...others, ...ids.slice(Math.max(0, first), last + 1)]) });
}

export function selectionBar(
  { selected, scope, documents }: PageData,
  collection: string,
  actions: Actions,
): TemplateResult | typeof nothing {
  if (selected.size === 0) return nothing;
  const inTrash = isTrash(collection);
  const mayChange = scope === 'index' || scope === 'admin';
  return html`<div class="chosen-bar" role="region" aria-label=${T.region}>
    <span aria-live="polite">${T.selected(selected.size)}</span>
    <button class="quiet" @click=${actions.clearSelection}>${T.clear}</button>
    <button class="quiet" @click=${() => actions.copy([...selected].join('\n'))}>${T.copyIds}</button>
    <button class="quiet" @click=${actions.searchBySelected}>${T.similar}</button>
    ${mayChange && !inTrash ? html`<button class="quiet" @click=${actions.labelSelected}>${T.label}</button>` : nothing}
    ${scope === 'admin' && !inTrash ? html`<button class="quiet" @click=${actions.copySelected}>${T.copy}</button>` : nothing}
    <button class="quiet" @click=${() => saveDocuments(documents.filter(({ id }) => selected.has(id)))}>${T.csv}</button>
    ${mayChange ? html`<button class=${inTrash ? 'quiet' : 'primary'} @click=${actions.deleteSelected}>${inTrash ? TEXTS.trash.deleteForGood : T.delete}</button>` : nothing}
    ${mayChange && inTrash ? html`<button class="primary" @click=${actions.restoreSelected}>${TEXTS.trash.restore}</button>` : nothing}
  </div>`;
}

/** Codes that people cannot read. */
const NOT_SAVED = /_(rerank|cluster|nclusters|lopq|descriptor)$/;

function saveDocuments(documents: readonly FoundDocument[]): void {
  const names = [...new Set(documents.flatMap((document) => Object.keys(document)))].filter(
    (name) => !NOT_SAVED.test(name),
  );
  const text = (value: Plain | undefined) => (Array.isArray(value) ? value.join(', ') : String(value ?? ''));
  saveCsv('akin-documents.csv', [names, ...documents.map((document) => names.map((name) => text(document[name])))]);
}
