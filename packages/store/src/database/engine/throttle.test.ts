import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Throttle } from './throttle.ts';

describe('the throttle of bulk work', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  /** How long bulk work pauses after a piece, with a search every `interval` milliseconds. */
  async function pauseOf(throttle: Throttle, milliseconds: number, interval = Number.POSITIVE_INFINITY) {
    const from = performance.now();
    let isOver = false;
    const pause = throttle.pauseAfter(milliseconds).then(() => {
      isOver = true;
    });
    for (let at = from; ; ) {
      await jest.advanceTimersByTimeAsync(10);
      if (isOver) break;
      if (performance.now() - at < interval) continue;
      throttle.recordSearch();
      at = performance.now();
    }
    await pause;
    return performance.now() - from;
  }

  it('does not pause without searches, or if it is off', async () => {
    expect(await pauseOf(new Throttle(true), 500)).toBe(10);
    const off = new Throttle(false);
    off.recordSearch();
    expect(off.isPausing).toBe(false);
    expect(await pauseOf(off, 500)).toBe(10);
  });

  it('pauses three times as long as a piece took while searches go on', async () => {
    const throttle = new Throttle(true);
    throttle.recordSearch();
    expect(throttle.isPausing).toBe(true);
    expect(await pauseOf(throttle, 500, 100)).toBe(1_500);
    expect(await pauseOf(throttle, 60_000, 100)).toBe(2_100);
  });

  it('ends its pauses a second after the last search', async () => {
    const throttle = new Throttle(true);
    throttle.recordSearch();
    expect(await pauseOf(throttle, 600)).toBe(1_200);
    expect(throttle.isPausing).toBe(false);
  });

  it('ends a pause with its signal', async () => {
    const throttle = new Throttle(true);
    throttle.recordSearch();
    const ending = new AbortController();
    const pause = throttle.pauseAfter(500, ending.signal);
    ending.abort();
    await pause;
    await throttle.pauseAfter(500, ending.signal);
  });

  it('pauses for searches of other processes, and not while they cannot be asked', async () => {
    let others = async () => true;
    const throttle = new Throttle(true, () => others());
    await throttle.check();
    expect(throttle.isPausing).toBe(true);
    others = () => Promise.reject(new Error('unreachable'));
    await expect(throttle.check()).rejects.toThrow('unreachable');
    expect(throttle.isPausing).toBe(false);
  });
});
