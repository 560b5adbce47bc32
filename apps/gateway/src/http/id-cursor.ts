import { type AkinError, badRequest } from '@akin/domain';

/** A cursor that continues after an id. Ids are arbitrary text; a cursor is safe in a URL. */
export function writeIdCursor(id: string): string {
  return Buffer.from(id, 'utf8').toString('base64url');
}

/** The same after a pair of ids. */
export const writePairCursor = (ids: readonly [string, string]) => writeIdCursor(JSON.stringify(ids));

/** @throws AkinError bad-request */
export function readPairCursor(cursor: string): readonly [string, string] {
  const text = readIdCursor(cursor);
  try {
    const pair: unknown = JSON.parse(text);
    if (Array.isArray(pair) && pair.length === 2 && pair.every((id) => typeof id === 'string')) {
      return pair as unknown as readonly [string, string];
    }
  } catch {
    // The error below applies.
  }
  throw invalidCursor();
}

/** @throws AkinError bad-request for an invalid text */
export function readIdCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString('utf8');
  if (id !== '' && writeIdCursor(id) === cursor && !id.includes('\0')) return id;
  throw invalidCursor();
}

function invalidCursor(): AkinError {
  return badRequest('Parameter cursor must be the nextCursor of an earlier response.');
}
