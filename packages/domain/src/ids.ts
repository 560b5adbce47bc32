import { badRequest } from './errors.ts';
import { JsonNumber, type JsonValue } from './json.ts';
import { copyString, unstorableReason, utf8Length } from './text.ts';

/** Maximum length of an id in bytes of UTF-8. */
export const MAX_ID_BYTES = 512;

/**
 * Parses an id: any non-empty text, or a number, which becomes its text.
 *
 * @throws AkinError bad-request that says what is wrong with it
 */
export function parseId(value: JsonValue): string {
  const id = value instanceof JsonNumber ? value.text : value;
  if (typeof id !== 'string') throw badRequest('An id must be a string or a number.');
  if (id === '') throw badRequest('An id must not be empty.');
  if (utf8Length(id) > MAX_ID_BYTES) {
    throw badRequest(`An id has at most ${MAX_ID_BYTES} bytes in UTF-8; this one has ${utf8Length(id)}.`);
  }
  const problem = unstorableReason(id);
  if (problem !== null) throw badRequest(`An id must not contain ${problem}.`);
  // The ids of many documents are kept in memory; a copy lets the request's text be freed.
  return copyString(id);
}
