import { AkinRequestError } from '@akin/client';
import { sleep } from '@akin/runtime';

/** A server that is away, starts, or has too much to do, or that a body was too slow for. */
export function isPassing(error: unknown): boolean {
  return error instanceof AkinRequestError && [0, 408, 429, 502, 503, 504].includes(error.status);
}

/**
 * Tries again what fails because nobody answers just now.
 *
 * @throws what it throws, when that is another thing or goes on for longer than the patience; the reason of the signal
 */
export async function persist<Value>(
  work: () => Promise<Value>,
  patienceMilliseconds: number,
  signal: AbortSignal,
): Promise<Value> {
  const since = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error) || performance.now() - since > patienceMilliseconds) throw error;
      await sleep(((error as AkinRequestError).retryAfterSeconds ?? 1) * 1_000, signal);
    }
  }
}
