import { OPEN_STATES } from '../collections/collection-tables.ts';

/**
 * SQL: whether an earlier atomic update of an id waits.
 *
 * @param id the id of the document, as SQL
 * @param seq the number before which it was accepted, as SQL
 */
export function openAtomic(S: string, id: string, seq: string): string {
  return `exists (select from ${S}.operations held join ${S}.requests held_by using (request)
    where held.id = ${id} and held.atomic and held.state in ${OPEN_STATES} and held_by.first_seq + held.position < ${seq})`;
}
