import { AkinError } from '@akin/domain';

export function goneError({ name }: { readonly name: string }): AkinError {
  return new AkinError('not-found', `The collection ${name} no longer exists.`);
}

/** Whether a reindex is swapping a collection (changes are held for a moment), or has replaced it. */
export interface Swap {
  readonly held: boolean;
  readonly replaced: boolean;
}

/** Column of {@link Swap}, as SQL over a row of `akin.collections`. */
export const REPLACED = 'replaced_at is not null as replaced';
/** All columns of {@link Swap}. */
export const SWAP = `coalesce(held_until > clock_timestamp(), false) as held, ${REPLACED}`;

/**
 * Call this before a change of a collection, under the lock of its row. If the client sends the change again a moment
 * later, it goes to the new collection.
 *
 * @param held omit it for changes that the swap still copies
 * @throws AkinError unavailable if the collection is being replaced
 */
export function requireNoSwap({ held = false, replaced }: Partial<Swap> & Pick<Swap, 'replaced'>): void {
  if (!held && !replaced) return;
  throw new AkinError(
    'unavailable',
    'The collection is being replaced by its reindexed copy: send the request again.',
    { retryAfterSeconds: replaced ? 1 : 2 },
  );
}
