import { type Collection, filter } from '@akin/client';

/** What is stored of a picture whose file, or what describes it, was changed. */
export interface StoredPicture {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly outputs: Readonly<Record<string, unknown>>;
}

/** Reads documents with their outputs, by id. Those that are gone are missing. */
export async function readStoredPictures(
  collection: Collection,
  ids: readonly string[],
): Promise<ReadonlyMap<string, StoredPicture>> {
  const stored = new Map<string, StoredPicture>();
  if (ids.length === 0) return stored;
  const q = String(filter`id:${ids}`);
  let cursor: string | undefined;
  do {
    const page = await collection.exportPage({ q }, cursor);
    for (const line of page.lines.split('\n')) {
      const { id, import: outputs, thumbnail: _, ...fields } = line === '' ? {} : JSON.parse(line);
      if (typeof id !== 'string') continue;
      stored.set(id, { fields, outputs: typeof outputs === 'string' ? JSON.parse(outputs) : (outputs ?? {}) });
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return stored;
}
