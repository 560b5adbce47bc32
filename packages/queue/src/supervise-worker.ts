import { setTimeout as delay } from 'node:timers/promises';
import type { Worker } from 'bullmq';

/** How soon a worker reconnects after its connection broke. BullMQ would wait 15 s. */
export const RETRY_MILLISECONDS = 500;
/** A worker that was asked to stop and has no job counts as stopped after this time. */
const END_MILLISECONDS = 2_000;

/**
 * Keeps a worker running until disposed. A worker of BullMQ reconnects after a broken connection. But if its first
 * connection breaks before it is ready, the worker never gets jobs and reports no error; then it is replaced by a new
 * worker.
 *
 * @param create makes a worker that does not start by itself (`autorun: false`)
 * @param isConnected while false, disposing does not wait: no result could be written to the server
 * @param isBusy whether a job is being handled; disposing waits for it
 */
export function superviseWorker(
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
      // Shortly after a break, the worker's own connection may still wait to reconnect. If it is closed in that moment,
      // ioredis never emits `end`, and BullMQ would wait for `end` forever.
      const idle = async () => {
        do await delay(END_MILLISECONDS, undefined, { signal: ended.signal }).catch(() => {});
        while (isBusy() && !ended.signal.aborted);
      };
      await Promise.race([ending, idle()]);
    },
  };
}
