import { AkinRequestError } from '@akin/client';
import { sleep } from '@akin/runtime';

/** The server is unreachable, starts or is overloaded, or the body was too slow for it. */
export function isTransient(error: unknown): boolean {
  return error instanceof AkinRequestError && [0, 408, 429, 502, 503, 504].includes(error.status);
}

/**
 * @throws the error of the call, if it is not transient or persists for longer than the given time; the reason of the
 * signal
 */
export async function retryTransient<Value>(
  work: () => Promise<Value>,
  maxOutageMilliseconds: number,
  signal: AbortSignal,
): Promise<Value> {
  const since = performance.now();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isTransient(error) || performance.now() - since > maxOutageMilliseconds) throw error;
      await sleep(((error as AkinRequestError).retryAfterSeconds ?? 1) * 1_000, signal);
    }
  }
}
