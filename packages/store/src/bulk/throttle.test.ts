import { describe, expect, it, jest } from '@jest/globals';
import { type SearchTimes, Throttle } from './throttle.ts';

/**
 * A throttle with its own clock: `second` advances it by one second with searches of a given duration, with bulk work
 * or without.
 */
function throttleOf(slowdown: number, exchange?: (own: SearchTimes) => Promise<SearchTimes>) {
  let now = 0;
  const throttle = new Throttle(slowdown, exchange, () => now);
  return {
    throttle,
    async second(milliseconds: number | undefined, bulk: boolean) {
      for (let i = 0; i < 20 && milliseconds !== undefined; i++) throttle.recordSearchTime(milliseconds);
      if (bulk) await throttle.pauseAfter(0);
      now += 1_000;
      await throttle.adjust();
    },
  };
}

/** What the duration of searches depends on. */
interface Load {
  /** Milliseconds without bulk work. */
  readonly undisturbed: number;
  /** Factor of their duration while bulk work runs at full speed. */
  readonly own: number;
  /** Standard deviation of the logarithm of their duration, which other programs vary. */
  readonly noise?: number;
}

/** Roughly normally distributed numbers, the same in every run. */
function normalNumbers(): () => number {
  let state = 1;
  const uniform = () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
  return () => (uniform() + uniform() + uniform() + uniform() - 2) * Math.sqrt(3);
}

/** The average share of its full speed that bulk work had during some seconds of a load. */
async function shareUnder({ throttle, second }: ReturnType<typeof throttleOf>, seconds: number, load: Load) {
  const { undisturbed, own, noise = 0 } = load;
  const normal = normalNumbers();
  let sum = 0;
  for (let i = 0; i < seconds; i++) {
    const share = 1 / (1 + throttle.pauseRatio);
    sum += share;
    await second(undisturbed * (1 + (own - 1) * share) * Math.exp(noise * normal()), true);
  }
  return sum / seconds;
}

describe('the throttle of bulk work', () => {
  it('does not pause without searches', async () => {
    const { throttle, second } = throttleOf(1.3);
    await second(20, true);
    for (let i = 0; i < 10; i++) {
      await second(undefined, true);
      expect(throttle.pauseRatio).toBe(0);
    }
  });

  it.each([0, 0.1, 0.2])('pauses if bulk work slows searches, also if their duration varies by %d', async (noise) => {
    const bulk = throttleOf(1.3);
    await shareUnder(bulk, 20, { undisturbed: 20, own: 2, noise });
    const share = await shareUnder(bulk, 80, { undisturbed: 20, own: 2, noise });
    expect(share).toBeGreaterThan(0.25);
    expect(share).toBeLessThan(0.55);
    // It keeps at least a quarter of its speed, and tries more now and then.
    expect(await shareUnder(bulk, 80, { undisturbed: 20, own: 4, noise })).toBeLessThan(0.4);
    expect(bulk.throttle.pauseRatio).toBeLessThanOrEqual(3);
  });

  it.each([
    ['always', 160, 0],
    ['always, by turns', 160, 0.2],
    ['from time to time', 20, 0.2],
    ['much from time to time', 20, 0.4],
  ])('continues if other programs slow searches: %s', async (_, undisturbed, noise) => {
    const bulk = throttleOf(1.3);
    for (let i = 0; i < 10; i++) await bulk.second(20, false);
    await shareUnder(bulk, 40, { undisturbed, own: 1.05, noise });
    expect(await shareUnder(bulk, 100, { undisturbed, own: 1.05, noise })).toBeGreaterThan(0.45);
  });

  it('distinguishes its own effect from that of other programs', async () => {
    const bulk = throttleOf(1.3);
    for (let i = 0; i < 10; i++) await bulk.second(20, false);
    // The other programs begin together with bulk work.
    expect(await shareUnder(bulk, 40, { undisturbed: 160, own: 1.05 })).toBeGreaterThan(0.6);
    await shareUnder(bulk, 40, { undisturbed: 160, own: 2 });
    expect(await shareUnder(bulk, 80, { undisturbed: 160, own: 2 })).toBeLessThan(0.5);
    // The other programs end.
    await shareUnder(bulk, 20, { undisturbed: 20, own: 2 });
    expect(await shareUnder(bulk, 80, { undisturbed: 20, own: 2 })).toBeLessThan(0.5);
    // So does the effect of bulk work.
    await shareUnder(bulk, 40, { undisturbed: 20, own: 1.02 });
    expect(await shareUnder(bulk, 80, { undisturbed: 20, own: 1.02 })).toBeGreaterThan(0.6);
  });

  it('learns from the searches of other processes, which arrive a second later', async () => {
    let last: SearchTimes = { count: 20, p95: 20 };
    const bulk = throttleOf(1.3, async (own) => {
      const before = last;
      last = own;
      return before;
    });
    await shareUnder(bulk, 20, { undisturbed: 20, own: 2 });
    expect(await shareUnder(bulk, 80, { undisturbed: 20, own: 2 })).toBeLessThan(0.5);
  });

  it('ends a pause with its signal', async () => {
    const { throttle, second } = throttleOf(1.3);
    await second(20, false);
    expect(throttle.pauseRatio).toBeGreaterThan(0);
    const ending = new AbortController();
    // The clock stands still: nothing else ends the pause.
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'performance'] });
    const pause = throttle.pauseAfter(60_000, ending.signal);
    ending.abort();
    await pause;
    await throttle.pauseAfter(60_000, ending.signal);
    jest.useRealTimers();
  });

  it('pauses in proportion to its ratio, and never with 0', async () => {
    const { throttle, second } = throttleOf(1.3);
    await second(20, false);
    const from = performance.now();
    await throttle.pauseAfter(50);
    expect(performance.now() - from).toBeGreaterThan(40);
    const off = throttleOf(0);
    await off.second(20, false);
    for (let i = 0; i < 5; i++) await off.second(200, true);
    expect(off.throttle.pauseRatio).toBe(0);
  });
});
