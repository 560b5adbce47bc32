import { AkinError } from '@akin/domain';
import { inSpan } from '@akin/runtime';
import { commitOfStandby, lastOperation, type SeqRange, waitForOperations } from '@akin/store/changes';
import type { Collection } from '@akin/store/database';
import type { Context } from '../context.ts';
import { readToken } from './token.ts';

/**
 * Waits until the operations of an update are visible, failed or superseded. Requests a commit as soon as they are
 * analyzed, instead of waiting for the automatic one.
 *
 * @param token undefined: nothing is waited for
 * @param milliseconds time limit
 * @throws AkinError bad-request for a foreign token; unavailable after the time limit, never an older result
 */
export async function awaitToken(
  token: string | undefined,
  milliseconds: number,
  collection: Collection,
  signal: AbortSignal,
  context: Context,
): Promise<void> {
  if (token === undefined) return;
  await inSpan('wait for changes', {}, () => awaitVisible(token, milliseconds, collection, signal, context));
}

/**
 * As {@link awaitToken}, for results that may come from a standby. If a standby shows the operations already, it waits
 * for nothing.
 *
 * @returns the commit that a result must show. Undefined: any result of the primary shows the operations.
 */
export async function awaitTokenOrStandby(
  token: string | undefined,
  milliseconds: number,
  collection: Collection,
  signal: AbortSignal,
  context: Context,
): Promise<bigint | undefined> {
  if (token === undefined) return undefined;
  const commit = context.store.standbys.count > 0 ? await commitOf(token, collection, context) : undefined;
  if (commit === undefined) await awaitToken(token, milliseconds, collection, signal, context);
  return commit;
}

/** A commit of a standby that contains the operations of a token. */
async function commitOf(token: string, collection: Collection, { store }: Context): Promise<bigint | undefined> {
  let range: SeqRange;
  try {
    // The standby checks whether the token is beyond its newest operation.
    range = readToken(token, collection, Number.MAX_SAFE_INTEGER);
  } catch {
    return undefined;
  }
  return commitOfStandby(store, collection, range);
}

async function awaitVisible(
  token: string,
  milliseconds: number,
  collection: Collection,
  signal: AbortSignal,
  context: Context,
): Promise<void> {
  const { store } = context;
  const range = readToken(token, collection, await lastOperation(store, collection));
  const tooLate = AbortSignal.timeout(milliseconds);
  const done = new AbortController();
  const either = AbortSignal.any([signal, tooLate, done.signal]);
  const visible = waitForOperations(store, collection, range, { until: 'visible', signal: either });
  const requested = waitForOperations(store, collection, range, { signal: either }).then(async () => {
    if (!done.signal.aborted) await context.commit(collection.name);
  });
  // Even if the commit cannot be requested, the automatic one may still come in time.
  requested.catch(() => {});
  try {
    await visible;
  } catch (error) {
    if (!tooLate.aborted || error instanceof AkinError) throw error;
    throw new AkinError(
      'unavailable',
      `The changes of the token in after are not visible after ${milliseconds} ms: try again.`,
      {
        retryAfterSeconds: 1,
      },
    );
  } finally {
    done.abort();
  }
}
