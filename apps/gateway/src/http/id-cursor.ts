import { AkinError } from '@akin/domain';

/** A cursor that continues after an id. Ids are arbitrary text; a cursor is safe in a URL. */
export function writeIdCursor(id: string): string {
  return Buffer.from(id, 'utf8').toString('base64url');
}

/** @throws AkinError bad-request for an invalid text */
export function readIdCursor(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString('utf8');
  if (id !== '' && writeIdCursor(id) === cursor && !id.includes('\0')) return id;
  throw new AkinError('bad-request', 'Parameter cursor must be the nextCursor of an earlier response.');
}
