import type { FoundDocument, SearchResponse } from './types.ts';

/** The pages of a list, one at a time. The last one names no next one. */
export async function* pagesOf<Page extends { nextCursor?: string }>(
  read: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page> {
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    yield page;
    cursor = page.nextCursor;
  } while (cursor !== undefined);
}

/** The documents of all pages of a search. The last page repeats the mark that it was asked for with. */
export async function* documentsOf(
  read: (cursorMark: string) => Promise<SearchResponse>,
): AsyncGenerator<FoundDocument> {
  let cursorMark = '*';
  for (;;) {
    const page = await read(cursorMark);
    yield* page.response.docs;
    if (!page.nextCursorMark || page.nextCursorMark === cursorMark) return;
    cursorMark = page.nextCursorMark;
  }
}
