import { AkinError } from '@akin/domain';
import { inSpan } from '@akin/runtime';
import { type Collection, lastOperation, waitForOperations } from '@akin/store';
import type { Context } from '../context.ts';
import { readToken } from './token.ts';

/**
 * Waits until the operations of an update are visible, failed or superseded. Brings the next commit forward as soon as
 * they are analyzed, rather than wait for the automatic one.
 *
 * @throws AkinError bad-request for a foreign token; unavailable when the time is over, never an older answer
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
  // Whatever keeps the commit from being brought forward, the automatic one may still come in time.
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
