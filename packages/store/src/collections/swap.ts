import { AkinError } from '@akin/domain';

/** Whether a reindex replaces a collection: it holds changes for the moment of the swap, or has done it. */
export interface Swap {
  readonly held: boolean;
  readonly replaced: boolean;
}

/** Column of {@link Swap}, as SQL over a row of `akin.collections`. */
export const REPLACED = 'replaced_at is not null as replaced';
/** All columns of {@link Swap}. */
export const SWAP = `coalesce(held_until > clock_timestamp(), false) as held, ${REPLACED}`;

/**
 * For changes of a collection, under the lock of its row. A change that is sent again a moment later goes to the
 * collection that replaces it.
 *
 * @param held omitted for changes that the swap still copies if they come before it
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
