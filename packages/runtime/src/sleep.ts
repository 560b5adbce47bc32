import { setTimeout } from 'node:timers/promises';

/**
 * Waits, or ends at once if the signal aborts.
 * @throws the reason of the signal
 */
export async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await setTimeout(milliseconds, undefined, { signal }).catch(() => {
    throw signal.reason;
  });
}
