import { loadGroups } from './groups.ts';
import type { Model } from './model.ts';
import { type Deleted, KEPT_SECONDS, MOST_KEPT, readDocuments, storeDocuments } from './undo.ts';

let forgetting: ReturnType<typeof setTimeout> | undefined;

/** Deletes the chosen documents, and offers to bring them back. */
export async function deleteChosen(model: Model): Promise<void> {
  model.update({ error: null, review: { ...model.shown.review, deleting: true } });
  const { collection } = model;
  const ids = [...model.shown.review.chosen];
  try {
    const documents = ids.length > MOST_KEPT ? undefined : await readDocuments(collection, ids);
    await collection.deleteByIds(ids, { commit: true });
    keepDeleted(model, { collection, documents, count: ids.length, restoring: false });
    model.update({ review: { ...model.shown.review, chosen: new Set(), deleting: false } });
    await loadGroups(model, 'again');
  } catch (error) {
    model.update({ error: model.told(error), review: { ...model.shown.review, deleting: false } });
  }
}

/** Offers for a while to bring back what was deleted. */
function keepDeleted(model: Model, deleted: Deleted): void {
  clearTimeout(forgetting);
  forgetting = setTimeout(() => model.update({ deleted: null }), KEPT_SECONDS * 1_000);
  model.update({ deleted });
}

/** Brings back what was deleted last. @returns whether it is back; if not, the page says why */
export async function undoDelete(model: Model): Promise<boolean> {
  const { deleted } = model.shown;
  if (deleted?.documents === undefined) return false;
  clearTimeout(forgetting);
  model.update({ error: null, deleted: { ...deleted, restoring: true } });
  try {
    await storeDocuments(deleted.collection, deleted.documents);
    model.update({ deleted: null });
    return true;
  } catch (error) {
    model.update({ error: `Nothing was brought back. ${model.told(error)}` });
    keepDeleted(model, { ...deleted, restoring: false });
    return false;
  }
}
