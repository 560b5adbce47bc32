import { setTimeout as delay } from 'node:timers/promises';
import type { Worker } from 'bullmq';

/** How soon a worker asks again after the connection to Redis broke. BullMQ would wait 15 s. */
export const RETRY_MILLISECONDS = 500;
/** A worker that was asked to end and has no job counts as ended after this time. */
const END_MILLISECONDS = 2_000;

/**
 * Keeps a worker at work until disposed of. BullMQ's takes up a connection again that broke, but one whose first
 * connection breaks before it is ready stays deaf for ever, without an error: so that one is made again.
 *
 * @param create makes a worker that does not run by itself (`autorun: false`)
 * @param isConnected while it is not, disposing does not wait: Redis could not be informed of any result
 * @param isBusy whether a job is being handled; disposing waits for it
 */
export function keepWorking(
  create: () => Worker,
  isConnected: () => boolean,
  isBusy: () => boolean,
  report: (error: Error) => void,
): AsyncDisposable {
  const stop = new AbortController();
  let worker: Worker;

  async function work(): Promise<void> {
    while (!stop.signal.aborted) {
      worker = create();
      try {
        await worker.waitUntilReady();
        await worker.run();
      } catch (error) {
        if (stop.signal.aborted) return;
        report(error as Error);
        await worker.close(true).catch(report);
        await delay(RETRY_MILLISECONDS, undefined, { signal: stop.signal }).catch(() => {});
      }
    }
  }

  const working = work();
  return {
    async [Symbol.asyncDispose]() {
      stop.abort();
      if (!isConnected()) {
        worker.close(true).catch(report);
        return;
      }
      const ended = new AbortController();
      const ending = worker.close().then(() => working);
      ending.finally(() => ended.abort()).catch(() => {});
      // Shortly after a break its own connection may still wait to be taken up again. Dropped in that moment, ioredis
      // never says that it has ended, and BullMQ waits for just that.
      const idle = async () => {
        do await delay(END_MILLISECONDS, undefined, { signal: ended.signal }).catch(() => {});
        while (isBusy() && !ended.signal.aborted);
      };
      await Promise.race([ending, idle()]);
    },
  };
}
