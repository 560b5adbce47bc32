import { AkinError } from '@akin/domain';

/** @throws AkinError not-found */
export function seqOf(operation: string, collection: string): number {
  const seq = operation.startsWith(`${collection}-`) ? operation.slice(collection.length + 1) : '';
  if (/^[1-9]\d{0,14}$/.test(seq)) return Number(seq);
  throw new AkinError(
    'not-found',
    `${collection} has no such operation. Names of operations look like ${collection}-17.`,
  );
}
