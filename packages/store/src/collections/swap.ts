import { AkinError } from '@akin/domain';

/** Whether a reindex replaces a collection: it holds changes for the moment of the swap, or has done it. */
export interface Swap {
  readonly held: boolean;
  readonly replaced: boolean;
}

/** The columns of {@link Swap}, as SQL over a row of `akin.collections`. */
export const SWAP = `coalesce(held_until > clock_timestamp(), false) as held, replaced_at is not null as replaced`;

/**
 * For changes of a collection, under the lock of its row. A change that is sent again a moment later goes to the
 * collection that replaces it.
 *
 * @throws AkinError unavailable if the collection is being replaced
 */
export function requireNoSwap({ held, replaced }: Swap): void {
  if (!held && !replaced) return;
  throw new AkinError(
    'unavailable',
    'The collection is being replaced by its reindexed copy: send the request again.',
    { retryAfterSeconds: replaced ? 1 : 2 },
  );
}
