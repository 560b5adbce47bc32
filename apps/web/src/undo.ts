import type { Collection } from '@akin/client';
import { html, type TemplateResult } from 'lit-html';
import type { Actions } from './actions.ts';
import { filterOf } from './facets.ts';

/** What was deleted last, for as long as it can be brought back. */
export interface Deleted {
  readonly collection: Collection;
  /** The documents as JSON, each with its outputs and its small picture; undefined: too many to keep. */
  readonly documents: readonly string[] | undefined;
  readonly count: number;
  readonly restoring: boolean;
}

/** Some 30 kB each stay in the memory of the browser. */
export const MOST_KEPT = 1_000;
export const KEPT_SECONDS = 30;
const CHUNK = 100;

/** Documents with all that is needed to store them again. */
export async function readDocuments(collection: Collection, ids: readonly string[]): Promise<string[]> {
  const documents: string[] = [];
  for (const some of chunksOf(ids)) {
    const fq = some.map((id) => filterOf('id', id)).join(' OR ');
    let cursor: string | undefined;
    do {
      const page = await collection.exportPage({ fq }, cursor);
      const lines = page.lines.split('\n').filter((line) => line !== '');
      // The first line of the first page is about the fields.
      documents.push(...lines.slice(cursor === undefined ? 1 : 0));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  return documents;
}

/** Stores documents again; nothing is analyzed. */
export async function storeDocuments(collection: Collection, documents: readonly string[]): Promise<void> {
  for (const some of chunksOf(documents)) await collection.addJson(new TextEncoder().encode(`[${some.join(',')}]`));
  await collection.commit();
}

function chunksOf<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, i) => items.slice(i * CHUNK, (i + 1) * CHUNK));
}

/** Says what was deleted, and offers to bring it back. */
export function undoNote({ count, documents, restoring }: Deleted, actions: Actions): TemplateResult {
  return html`<div class="note-bar" role="status">
    <span>${count.toLocaleString()} document${count === 1 ? '' : 's'} deleted.</span>
    ${
      documents === undefined
        ? ''
        : html`<button class="primary" ?disabled=${restoring} @click=${actions.undoDelete}>${restoring ? 'Bringing back…' : 'Undo'}</button>`
    }
    <button class="quiet" aria-label="Dismiss" @click=${actions.forgetDeleted}>×</button>
  </div>`;
}
