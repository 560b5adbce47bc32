import { isCollectionName } from './names.ts';

const ENDING = '.trash';

/** How long a deleted document can be brought back. */
export const TRASH_DAYS = 30;

/** The field with the time when a document came into a trash. */
export const TRASHED_AT = 'trashed_at';

/** The collection that keeps what the page deleted from another one. Undefined for a trash, and for a long name. */
export function trashName(collection: string): string | undefined {
  const name = `${collection}${ENDING}`;
  return isTrash(collection) || !isCollectionName(name) ? undefined : name;
}

export function isTrash(collection: string): boolean {
  return collection.endsWith(ENDING);
}

export function collectionOfTrash(trash: string): string {
  return trash.slice(0, -ENDING.length);
}
