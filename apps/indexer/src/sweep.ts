import { listCollections, maintain, requeueStuck, sweepUnaccepted } from '@akin/store';
import type { Context } from './context.ts';

/** An analysis that was begun so long ago is lost, whatever the queue says. */
const LOST_MILLISECONDS = 30 * 60_000;
/** Nothing is in the queue, and yet an analysis was begun so long ago: its job is lost. */
const LOST_FROM_QUEUE_MILLISECONDS = 10_000;
/** A request that began so long ago and was not accepted is the rest of a client or gateway that went away. */
const ABANDONED_MILLISECONDS = 6 * 60 * 60_000;

/**
 * Queues again what got lost with a queue or an analyzer, and does the housekeeping of the store.
 *
 * @returns how many analyses were queued again
 */
export async function sweep({ store, queue, log }: Context): Promise<number> {
  const idle = await isIdle();
  const requeued = await requeueStuck(store, idle ? LOST_FROM_QUEUE_MILLISECONDS : LOST_MILLISECONDS);
  if (requeued > 0) log.warn({ requeued }, 'analyses got lost and are queued again');
  for (const collection of await listCollections(store)) {
    await sweepUnaccepted(store, collection, ABANDONED_MILLISECONDS);
  }
  await maintain(store);
  return requeued;

  async function isIdle(): Promise<boolean> {
    const counts = await Promise.all([queue.counts('analyze'), queue.counts('analyzed')]);
    return counts.every(({ waiting, delayed, active }) => waiting + delayed + active === 0);
  }
}
