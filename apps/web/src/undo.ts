import type { Collection } from '@akin/client';
import { html, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { filterOf } from './facets.ts';
import { forgetResults } from './kept-results.ts';
import type { Model } from './model.ts';
import { TEXTS } from './texts.ts';
import { UNDO_SECONDS, type Undoable, type UndoOffer } from './undoable.ts';

const CHUNK = 100;

/** Reads documents with everything needed to store them again. */
export async function readDocuments(collection: Collection, ids: readonly string[]): Promise<string[]> {
  const documents: string[] = [];
  for (const some of chunksOf(ids)) {
    const fq = some.map((id) => filterOf('id', id)).join(' OR ');
    let cursor: string | undefined;
    do {
      const page = await collection.exportPage({ fq }, cursor);
      const lines = page.lines.split('\n').filter((line) => line !== '');
      // The first line of the first page describes the fields.
      documents.push(...lines.slice(cursor === undefined ? 1 : 0));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return documents;
}

/** Stores documents again, without analyzing pictures. */
export async function storeDocuments(collection: Collection, documents: readonly string[]): Promise<void> {
  for (const some of chunksOf(documents)) await collection.addJson(new TextEncoder().encode(`[${some.join(',')}]`));
  await collection.commit();
}

function chunksOf<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, i) => items.slice(i * CHUNK, (i + 1) * CHUNK));
}

let undoTimer: ReturnType<typeof setTimeout> | undefined;

/** Shows for a minute, or until the next such action, what was done, and offers to undo it. */
export function offerUndo(model: Model, undoable: Undoable): void {
  model.update({ undoable: { ...undoable, undoing: false } });
  restartUndoTimer(model);
  // The button that was pressed is gone: the keyboard goes on here.
  document.querySelector<HTMLElement>('.note-bar button')?.focus();
}

/** Keeps the offer while the pointer or the focus is on it: some people need more time to read (WCAG 2.2.1). */
export function pauseUndoTimer(): void {
  clearTimeout(undoTimer);
}

/** Removes the offer after a minute. */
export function restartUndoTimer(model: Model): void {
  clearTimeout(undoTimer);
  undoTimer = setTimeout(() => model.update({ undoable: null }), UNDO_SECONDS * 1_000);
}

/** @returns false if that failed; the page then shows the error */
export async function undoLast(model: Model): Promise<boolean> {
  const { undoable } = model.pageData;
  if (undoable?.undo === undefined) return false;
  clearTimeout(undoTimer);
  const mine = { ...undoable, undoing: true };
  model.update({ error: null, undoable: mine });
  try {
    await undoable.undo();
    forgetResults();
    // The user may have done something else meanwhile, which can be undone, too.
    if (model.pageData.undoable === mine) model.update({ undoable: null });
    return true;
  } catch (error) {
    model.update({ error: `${TEXTS.undo.failed} ${model.messageFor(error)}` });
    offerUndo(model, undoable);
    return false;
  }
}

export function undoNote({ text, undo, undoing }: UndoOffer, actions: Actions): TemplateResult {
  return html`<div
    class="note-bar"
    role="status"
    @mouseenter=${actions.pauseUndoTimer}
    @mouseleave=${actions.restartUndoTimer}
    @focusin=${actions.pauseUndoTimer}
    @focusout=${actions.restartUndoTimer}
  >
    <span>${text}</span>
    ${
      undo === undefined
        ? ''
        : html`<button class="primary" ?disabled=${undoing} @click=${actions.undo}>${undoing ? TEXTS.undo.undoing : TEXTS.undo.undo}</button>`
    }
    <button class="quiet" aria-label=${TEXTS.undo.dismiss} @click=${actions.forgetUndo}>×</button>
  </div>`;
}
