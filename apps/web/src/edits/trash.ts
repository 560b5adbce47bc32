import { type Collection, ConflictError, KeyError } from '@akin/client';
import { collectionOfTrash, trashName } from '@akin/domain';
import { forgetResults } from '../kept-results.ts';
import { loadCollections } from '../load-collections.ts';
import type { Model } from '../model.ts';
import { TEXTS } from '../texts.ts';
import { offerUndo, readDocuments, storeDocuments } from '../undo.ts';
import { askUser } from './ask-user.ts';
import { trashedLine, untrashedLine } from './trashed-line.ts';

/** Documents moved in one step: each takes some 30 kB of memory. */
const CHUNK = 200;
/** For files of a folder: what leaves the trash was deleted on purpose before. */
const NO_TOMBSTONES = { tombstones: false } as const;

/**
 * The trash of the current collection, which is created if it is missing; undefined if the key does not allow that, or
 * if its documents cannot be kept there as they are: it holds outputs of another model, or fields of other types.
 */
export async function openTrash({ akin, collection }: Model): Promise<Collection | undefined> {
  const name = trashName(collection.name);
  if (name === undefined) return undefined;
  const { collections } = await akin.collections();
  const [own, there] = [collection.name, name].map((one) => collections.find((known) => known.name === one));
  const trash = akin.collection(name);
  const isOther = there?.model !== undefined && there.model.hash !== own?.model?.hash;
  if (isOther && there.documents > 0) return undefined;
  try {
    // An empty one keeps the model that it was created with.
    if (isOther) await trash.drop();
    if (isOther || there === undefined) await trash.create(own?.model === undefined ? {} : { model: own.model.name });
    return (await defineFieldsOf(collection, trash)) ? trash : undefined;
  } catch (error) {
    if (error instanceof KeyError || error instanceof ConflictError) return undefined;
    throw error;
  }
}

/** Gives a trash the types of a collection's fields. @returns false if it has a field of another type */
async function defineFieldsOf(collection: Collection, trash: Collection): Promise<boolean> {
  const [wanted, known] = await Promise.all([collection, trash].map(fieldTypes));
  const missing: Record<string, string> = {};
  for (const [name, type] of wanted ?? []) {
    const there = known?.get(name);
    if (there !== undefined && there !== type) return false;
    if (there === undefined) missing[name] = type;
  }
  if (Object.keys(missing).length > 0) await trash.defineFields(missing);
  return true;
}

async function fieldTypes(collection: Collection): Promise<Map<string, string>> {
  const { schema } = await collection.schema();
  const own = schema.fields.filter(({ origin }) => origin === 'document');
  return new Map(own.map(({ name, type, multiValued }) => [name, multiValued ? `${type}[]` : type]));
}

export async function moveToTrash(collection: Collection, trash: Collection, ids: readonly string[]): Promise<void> {
  const now = new Date();
  // What others have changed and no search shows yet must be kept, too.
  await collection.commit();
  for (let i = 0; i < ids.length; i += CHUNK) {
    const some = ids.slice(i, i + CHUNK);
    const lines = await readDocuments(collection, some);
    // First of all: whatever happens in between, they are somewhere.
    await storeDocuments(
      trash,
      lines.map((line) => trashedLine(line, now)),
    );
    await collection.deleteByIds(some);
  }
  await collection.commit();
}

export async function moveFromTrash(collection: Collection, trash: Collection, ids: readonly string[]): Promise<void> {
  for (let i = 0; i < ids.length; i += CHUNK) {
    const some = ids.slice(i, i + CHUNK);
    const lines = await readDocuments(trash, some);
    await storeDocuments(collection, lines.map(untrashedLine));
    await trash.deleteByIds(some, { commit: true, ...NO_TOMBSTONES });
  }
}

export async function restoreDocuments(model: Model, ids: readonly string[]): Promise<boolean> {
  const trash = model.collection;
  const name = collectionOfTrash(trash.name);
  try {
    await moveFromTrash(model.akin.collection(name), trash, ids);
    forgetResults();
    model.update({ error: null });
    offerUndo(model, { text: TEXTS.trash.restored(ids.length, name), undo: undefined });
    return true;
  } catch (error) {
    model.showError(error);
    return false;
  }
}

/** Without ids, all. @returns false if the user cancelled, or it failed */
export async function deleteForGood(model: Model, ids?: readonly string[]): Promise<boolean> {
  const trash = model.collection;
  const T = TEXTS.trash;
  const documents = ids?.length ?? model.pageData.status?.documents ?? 0;
  const title = ids === undefined ? T.empty : T.deleteForGood;
  if ((await askUser({ title, text: T.forGood(documents), action: title })) === null) return false;
  try {
    if (ids === undefined) await trash.deleteByQuery('*:*', { commit: true, ...NO_TOMBSTONES });
    else await trash.deleteByIds(ids, { commit: true, ...NO_TOMBSTONES });
    forgetResults();
    model.update({ error: null });
    await loadCollections(model);
    return true;
  } catch (error) {
    model.showError(error);
    return false;
  }
}
