const ENDING = '.trash';
const MAX_NAME = 100;

/** How long a deleted document can be brought back. */
export const TRASH_DAYS = 30;

/** The collection that keeps what the page deleted from another one. Undefined for a trash, and for a long name. */
export function trashName(collection: string): string | undefined {
  const name = `${collection}${ENDING}`;
  return isTrash(collection) || name.length > MAX_NAME ? undefined : name;
}

export function isTrash(collection: string): boolean {
  return collection.endsWith(ENDING);
}

export function collectionOfTrash(trash: string): string {
  return trash.slice(0, -ENDING.length);
}
