import { setTimeout as delay } from 'node:timers/promises';
import { Worker as BullWorker, type IQueueBackend, isNotConnectionError, type Job, type JobProgress } from 'bullmq';
import { RETRY_MILLISECONDS } from './supervise-worker.ts';

/**
 * A worker that waits before it asks for a job again if the server refuses to give one, for example because its memory
 * is full. BullMQ waits only for a connection: otherwise it asks again at once, thousands of times a second.
 */
export class BackoffWorker<Backend extends IQueueBackend, Connection> extends BullWorker<
  unknown,
  void,
  string,
  Backend,
  JobProgress,
  Connection
> {
  protected override async moveToActive(token: string, name?: string): Promise<Job<unknown, void>> {
    try {
      return await super.moveToActive(token, name);
    } catch (error) {
      if (isNotConnectionError(error as Error) && !this.closing) await this.#pause();
      throw error;
    }
  }

  async #pause(): Promise<void> {
    const closing = new AbortController();
    const abort = () => closing.abort();
    this.once('closing', abort);
    await delay(RETRY_MILLISECONDS, undefined, { signal: closing.signal }).catch(() => {});
    this.off('closing', abort);
  }
}
