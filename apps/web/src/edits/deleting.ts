import { forgetResults } from '../kept-results.ts';
import type { Model } from '../model.ts';
import type { Takeover } from '../review/merge.ts';
import { TEXTS } from '../texts.ts';
import { offerUndo, readDocuments, storeDocuments } from '../undo.ts';
import { MAX_UNDOABLE_DOCUMENTS } from '../undoable.ts';

/**
 * Deletes documents, and offers to restore them.
 *
 * @param changes updates of documents that stay, which Undo takes back too
 * @returns false if that failed; the page then shows the error
 */
export async function deleteDocuments(
  model: Model,
  ids: readonly string[],
  changes: readonly Takeover[] = [],
): Promise<boolean> {
  const { collection } = model;
  try {
    const touched = [...ids, ...changes.map(({ id }) => id)];
    const documents = touched.length > MAX_UNDOABLE_DOCUMENTS ? undefined : await readDocuments(collection, touched);
    // First of all: what only the deleted ones have must not be lost in between.
    if (changes.length > 0) await collection.addJson(new TextEncoder().encode(JSON.stringify(changes)));
    await collection.deleteByIds(ids, { commit: true });
    forgetResults();
    model.update({ error: null });
    offerUndo(model, {
      text: TEXTS.undo.deleted(ids.length),
      undo: documents && (() => storeDocuments(collection, documents)),
    });
    return true;
  } catch (error) {
    model.showError(error);
    return false;
  }
}
