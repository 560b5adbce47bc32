import { describe, expect, it } from '@jest/globals';
import type { Lane } from './engine.ts';
import { Lanes } from './lanes.ts';

/** Lanes with a clock that only their work advances, and the order of the work. */
function timedLanes() {
  let now = 0;
  const lanes = new Lanes(() => now);
  const order: Lane[] = [];
  const run = (lane: Lane, milliseconds = 0) =>
    lanes.run(lane, async () => {
      order.push(lane);
      await new Promise((resolve) => setTimeout(resolve));
      now += milliseconds;
    });
  return { order, run };
}

describe('the lanes of the one connection', () => {
  it('runs one piece of work at a time', async () => {
    const lanes = new Lanes();
    let running = 0;
    let most = 0;
    const piece = async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
    };
    const names: Lane[] = ['bulk', 'interactive'];
    await Promise.all(Array.from({ length: 10 }, (_, i) => lanes.run(names[i % 2] as Lane, piece)));
    expect(most).toBe(1);
  });

  it('lets interactive work go before earlier bulk chunks, and starves neither', async () => {
    const { order, run } = timedLanes();
    const all: Promise<void>[] = [];
    for (let i = 0; i < 8; i++) all.push(run('bulk', 20));
    for (let i = 0; i < 40; i++) all.push(run('interactive', 4));
    await Promise.all(all);
    // As many chunks as start within 30 ms, then as much time for the others as they took, and so on.
    const turn = ['bulk', 'bulk', ...Array(10).fill('interactive')];
    expect(order).toEqual([...turn, ...turn, ...turn, ...turn]);
  });

  it('keeps the connection for a caller with several statements, as long as bulk work got its share', async () => {
    const { order, run } = timedLanes();
    const search = async () => {
      for (let statement = 0; statement < 4; statement++) {
        await run('interactive', 4);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all([run('bulk', 40), run('bulk', 10), search()]);
    expect(order).toEqual(['bulk', ...Array(4).fill('interactive'), 'bulk']);
  });

  it('keeps the connection for a chunk of several pieces while others wait', async () => {
    const { order, run } = timedLanes();
    const chunk = async () => {
      for (const milliseconds of [3, 2, 25, 3]) {
        await run('bulk', milliseconds);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await Promise.all([chunk(), ...Array.from({ length: 3 }, () => run('interactive', 10))]);
    expect(order).toEqual(['bulk', 'bulk', 'bulk', ...Array(3).fill('interactive'), 'bulk']);
  });

  it('gives bulk work its turn if no caller comes back', async () => {
    const { order, run } = timedLanes();
    await run('bulk', 100);
    await Promise.all([run('interactive'), run('bulk')]);
    await Promise.all([run('bulk'), run('interactive')]);
    // The second time its turn is not over.
    expect(order).toEqual(['bulk', 'interactive', 'bulk', 'bulk', 'interactive']);
  });

  it('rejects work that waited too long, and continues with later work', async () => {
    const lanes = new Lanes();
    let end = () => {};
    const long = lanes.run('interactive', () => new Promise<void>((resolve) => (end = resolve)));
    let begun = false;
    const impatient = lanes.run('interactive', async () => (begun = true), 5);
    const patient = lanes.run('interactive', async () => 'patient', 60_000);
    const bulk = lanes.run('bulk', async () => 'bulk');
    await expect(impatient).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 10 });
    end();
    await long;
    expect(await Promise.all([patient, bulk])).toEqual(['patient', 'bulk']);
    expect(begun).toBe(false);
  });

  it('continues after failed work', async () => {
    const lanes = new Lanes();
    await expect(lanes.run('bulk', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    await expect(lanes.run('bulk', () => Promise.resolve(1))).resolves.toBe(1);
  });
});
