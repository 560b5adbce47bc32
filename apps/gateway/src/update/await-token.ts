import { AkinError } from '@akin/domain';
import { inSpan } from '@akin/runtime';
import {
  type Collection,
  cachedCollection,
  commitOfStandby,
  findCollection,
  lastOperation,
  type SeqRange,
  waitForOperations,
} from '@akin/store';
import type { Context } from '../context.ts';
import { readToken } from './token.ts';

/**
 * Waits until the operations of an update are visible, failed or superseded. Requests a commit as soon as they are
 * analyzed, instead of waiting for the automatic one.
 *
 * @param token undefined: nothing is waited for
 * @param milliseconds time limit
 * @throws AkinError bad-request for a foreign token; unavailable after the time limit, never an older answer
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

/** A commit that contains the operations of a token. */
export interface Reached {
  readonly collection: Collection;
  readonly commit: bigint;
}

/**
 * As {@link awaitToken}, for answers that may come from a standby. If a standby shows the operations already, nothing
 * is waited for.
 *
 * @returns what the standby showed; undefined if the primary was waited for
 */
export async function reachToken(
  token: string | undefined,
  milliseconds: number,
  name: string,
  signal: AbortSignal,
  context: Context,
): Promise<Reached | undefined> {
  if (token === undefined) return undefined;
  const { store } = context;
  const recalled = store.standbys.count > 0 ? cachedCollection(store, name)?.collection : undefined;
  const commit = recalled && (await commitOf(token, recalled, context));
  if (recalled !== undefined && commit !== undefined) return { collection: recalled, commit };
  await awaitToken(token, milliseconds, await findCollection(store, name), signal, context);
  return undefined;
}

/**
 * The commit of a collection that an answer must show. If a standby was asked about another collection, which had the
 * name before, waits for the operations of the token in this one.
 *
 * @param reached the result of {@link reachToken}
 * @returns undefined if any answer of the primary shows the operations
 */
export async function commitReached(
  reached: Reached | undefined,
  token: string | undefined,
  milliseconds: number,
  collection: Collection,
  signal: AbortSignal,
  context: Context,
): Promise<bigint | undefined> {
  if (reached === undefined || reached.collection.id === collection.id) return reached?.commit;
  await awaitToken(token, milliseconds, collection, signal, context);
  return undefined;
}

async function commitOf(token: string, collection: Collection, { store }: Context): Promise<bigint | undefined> {
  let range: SeqRange;
  try {
    // The standby says whether it is beyond the newest operation.
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
  const brought = waitForOperations(store, collection, range, { signal: either }).then(async () => {
    if (!done.signal.aborted) await context.commit(collection.name);
  });
  // Even if the commit cannot be requested, the automatic one may still come in time.
  brought.catch(() => {});
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
