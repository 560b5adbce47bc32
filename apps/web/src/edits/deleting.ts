import type { Collection, FoundDocument } from '@akin/client';
import { filterOf } from '../facets.ts';
import { forgetResults } from '../kept-results.ts';
import { loadCollections } from '../load-collections.ts';
import type { Model } from '../model.ts';
import type { Takeover } from '../review/takeover.ts';
import { TEXTS } from '../texts.ts';
import { offerUndo, readDocuments, storeDocuments } from '../undo.ts';
import { MAX_UNDOABLE_DOCUMENTS } from '../undoable.ts';
import { askUser } from './ask-user.ts';
import { takeBack } from './take-back.ts';
import { moveFromTrash, moveToTrash, openTrash } from './trash.ts';

/** What is being deleted. A second press of the button would find nothing, and offer to restore that. */
const going = new Set<string>();

/**
 * Deletes documents, and offers to restore them: from the trash, or, where the key does not allow one, from the memory
 * of this page.
 *
 * @param changes updates of documents that stay, which Undo takes back too
 * @returns false if that failed, and the page shows the error, if the user cancelled, or if they are being deleted
 */
export async function deleteDocuments(
  model: Model,
  ids: readonly string[],
  changes: readonly Takeover[] = [],
): Promise<boolean> {
  const { collection } = model;
  const mine = JSON.stringify([collection.name, ids]);
  if (going.has(mine)) return false;
  going.add(mine);
  try {
    const trash = await openTrash(model);
    const isKept = trash !== undefined || ids.length <= MAX_UNDOABLE_DOCUMENTS;
    const { tooMany: text, delete: action } = TEXTS.trash;
    if (!isKept && (await askUser({ title: TEXTS.trash.question(ids.length), text, action })) === null) return false;
    const documents = trash === undefined && isKept ? await readDocuments(collection, ids) : [];
    // First of all: what only the deleted ones have must not be lost in between.
    if (changes.length > 0) await send(collection, changes);
    if (trash) await moveToTrash(collection, trash, ids);
    else await collection.deleteByIds(ids, { commit: true });
    forgetResults();
    model.update({ error: null });
    const undo = async () => {
      if (trash) await moveFromTrash(collection, trash, ids);
      else await storeDocuments(collection, documents);
      if (changes.length > 0) await undoChanges(collection, changes);
    };
    offerUndo(model, { text: TEXTS.undo.deleted(ids.length), undo: isKept ? undo : undefined });
    if (trash) void loadCollections(model);
    return true;
  } catch (error) {
    model.showError(error);
    return false;
  } finally {
    going.delete(mine);
  }
}

/** Takes back what documents took over, except what was changed since. */
async function undoChanges(collection: Collection, changes: readonly Takeover[]): Promise<void> {
  const documents: FoundDocument[] = [];
  for (const { id } of changes) {
    documents.push(...(await collection.select({ fq: filterOf('id', id), rows: 1 })).response.docs);
  }
  const updates = changes.flatMap(
    (change) =>
      takeBack(
        change,
        documents.find(({ id }) => id === change.id),
      ) ?? [],
  );
  if (updates.length > 0) await send(collection, updates);
  await collection.commit();
}

function send(collection: Collection, updates: readonly object[]) {
  return collection.addJson(new TextEncoder().encode(JSON.stringify(updates)));
}
