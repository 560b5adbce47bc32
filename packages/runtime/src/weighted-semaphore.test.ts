import { setMaxListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { WeightedSemaphore } from './weighted-semaphore.ts';

const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

describe('a weighted semaphore', () => {
  /** Enters, and notes in `order` when it is in. */
  const acquiring = (
    semaphore: WeightedSemaphore,
    order: string[],
    name: string,
    weight = 1,
    urgent = false,
    signal = NEVER,
  ) =>
    semaphore.acquire(urgent, signal, weight).then((release) => {
      order.push(name);
      return release;
    });

  it('never lets more weight in than it has capacity, and lets everybody in at last', async () => {
    const semaphore = new WeightedSemaphore(100);
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const weight = [1, 7, 60, 100][i % 4] as number;
        const release = await semaphore.acquire(i % 3 === 0, NEVER, weight);
        inside += weight;
        most = Math.max(most, inside);
        await new Promise(setImmediate);
        inside -= weight;
        release();
      }),
    );
    expect([most, semaphore.taken, semaphore.waiting]).toEqual([100, 0, 0]);
  });

  it('lets urgent callers in first, each kind in the order in which they came', async () => {
    const semaphore = new WeightedSemaphore(1);
    const order: string[] = [];
    const release = await acquiring(semaphore, order, 'first');
    const all = [
      acquiring(semaphore, order, 'a'),
      acquiring(semaphore, order, 'B', 1, true),
      acquiring(semaphore, order, 'c'),
      acquiring(semaphore, order, 'D', 1, true),
    ].map(async (entered) => (await entered)());
    release();
    await Promise.all(all);
    expect(order).toEqual(['first', 'B', 'D', 'a', 'c']);
  });

  it('lets no light one pass a heavy one that waits, unless it is urgent', async () => {
    const semaphore = new WeightedSemaphore(10);
    const order: string[] = [];
    const release = await acquiring(semaphore, order, 'half', 5);
    const heavy = acquiring(semaphore, order, 'heavy', 8);
    const light = acquiring(semaphore, order, 'light', 1);
    (await acquiring(semaphore, order, 'urgent', 5, true))();
    expect(order).toEqual(['half', 'urgent']);
    release();
    await Promise.all([heavy, light]);
    expect(order).toEqual(['half', 'urgent', 'heavy', 'light']);
  });

  it('takes one alone that is heavier than its capacity', async () => {
    const semaphore = new WeightedSemaphore(10);
    const order: string[] = [];
    const release = await acquiring(semaphore, order, 'light', 1);
    const heavy = acquiring(semaphore, order, 'heavy', 1000);
    const last = acquiring(semaphore, order, 'last', 1);
    release();
    (await heavy)();
    (await last)();
    expect([order, semaphore.isEmpty]).toEqual([['light', 'heavy', 'last'], true]);
  });

  it('gives back a part, and nothing twice', async () => {
    const semaphore = new WeightedSemaphore(10);
    const release = await semaphore.acquire(false, NEVER, 10);
    const next = semaphore.acquire(false, NEVER, 6);
    release(4);
    await next;
    expect(semaphore.taken).toBe(10);
    release();
    release();
    expect(semaphore.taken).toBe(6);
  });

  it('forgets requests that give up, and admits those that waited behind them', async () => {
    const semaphore = new WeightedSemaphore(10);
    const order: string[] = [];
    const release = await acquiring(semaphore, order, 'half', 5);
    const stop = new AbortController();
    const heavy = acquiring(semaphore, order, 'heavy', 8, false, stop.signal);
    const light = acquiring(semaphore, order, 'light', 5);
    stop.abort(new Error('enough'));
    await expect(heavy).rejects.toThrow('enough');
    await light;
    await expect(acquiring(semaphore, order, 'late', 1, true, stop.signal)).rejects.toThrow('enough');
    release();
    expect([order, semaphore.taken]).toEqual([['half', 'light'], 5]);
  });
});
