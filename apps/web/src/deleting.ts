import type { Model } from './model.ts';
import { TEXTS } from './texts.ts';
import { offerUndo, readDocuments, storeDocuments } from './undo.ts';
import { MAX_UNDOABLE_DOCUMENTS } from './undoable.ts';

/** Deletes documents, and offers to restore them. @returns false if that failed; the page then shows the error */
export async function deleteDocuments(model: Model, ids: readonly string[]): Promise<boolean> {
  const { collection } = model;
  try {
    const documents = ids.length > MAX_UNDOABLE_DOCUMENTS ? undefined : await readDocuments(collection, ids);
    await collection.deleteByIds(ids, { commit: true });
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
