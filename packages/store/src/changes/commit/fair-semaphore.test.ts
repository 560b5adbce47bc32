import { setImmediate as tick } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { FairSemaphore } from './fair-semaphore.ts';

describe('a fair semaphore', () => {
  /** Does some work in pieces, and records each. */
  async function work(semaphore: FairSemaphore, name: string, pieces: number, finished: string[]): Promise<void> {
    const slot = await semaphore.acquire();
    for (let i = 0; i < pieces; i++) {
      if (i > 0 && slot.isWanted) await slot.yield();
      finished.push(name);
      await tick();
    }
    slot.release();
  }

  it('lets small work end while earlier large work continues', async () => {
    for (const limit of [1, 2]) {
      const finished: string[] = [];
      const semaphore = new FairSemaphore(() => limit);
      const large = Array.from({ length: 3 }, (_, i) => work(semaphore, `large ${i}`, 1000, finished));
      await tick();
      await work(semaphore, 'small', 1, finished);
      // It waited for at most a few pieces of each.
      expect(finished.indexOf('small')).toBeLessThan(12);
      await Promise.all(large);
      expect(finished).toHaveLength(3001);
    }
  });

  it('never runs more at a time than the limit, and runs all of it', async () => {
    let limit = 3;
    const semaphore = new FairSemaphore(() => limit);
    let busy = 0;
    let most = 0;
    const one = async () => {
      const slot = await semaphore.acquire();
      for (let i = 0; i < 10; i++) {
        most = Math.max(most, ++busy);
        await tick();
        busy--;
        if (slot.isWanted) await slot.yield();
      }
      slot.release();
    };
    const all = Array.from({ length: 20 }, one);
    await Promise.all(all);
    expect(most).toBe(3);
    limit = 1;
    most = 0;
    await Promise.all(Array.from({ length: 20 }, one));
    expect(most).toBe(1);
  });

  it('lets large work make progress however much small work comes', async () => {
    const finished: string[] = [];
    const semaphore = new FairSemaphore(() => 1);
    let ended = false;
    const large = work(semaphore, 'large', 50, finished).then(() => {
      ended = true;
    });
    const small: Promise<void>[] = [];
    while (!ended) {
      // More than can be done in this time.
      small.push(
        work(semaphore, 'small', 1, finished),
        work(semaphore, 'small', 1, finished),
        work(semaphore, 'small', 1, finished),
      );
      await tick();
    }
    await Promise.all([large, ...small]);
    expect(finished.slice(0, finished.lastIndexOf('large')).filter((name) => name === 'small').length).toBeLessThan(60);
  });
});
