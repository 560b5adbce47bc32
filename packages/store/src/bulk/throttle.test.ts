import { describe, expect, it } from '@jest/globals';
import { Throttle } from './throttle.ts';

/**
 * A throttle with its own clock: `second` advances it by one second with searches of a given duration, with bulk work
 * or without.
 */
function throttleOf(slowdown: number) {
  let now = 0;
  const throttle = new Throttle(slowdown, undefined, () => now);
  return {
    throttle,
    async second(milliseconds: number | undefined, bulk: boolean) {
      for (let i = 0; i < 20 && milliseconds !== undefined; i++) throttle.searched(milliseconds);
      if (bulk) await throttle.rest(0);
      now += 1_000;
      await throttle.look();
    },
  };
}

describe('the throttle of bulk work', () => {
  it('does not pause without searches', async () => {
    const { throttle, second } = throttleOf(1.3);
    for (let i = 0; i < 10; i++) await second(undefined, true);
    expect(throttle.strength).toBe(0);
  });

  it('pauses more and more while searches are slowed, up to a quarter of the speed, and less if they are not', async () => {
    const { throttle, second } = throttleOf(1.3);
    for (let i = 0; i < 5; i++) await second(20, false);
    await second(40, true);
    const first = throttle.strength;
    expect(first).toBeGreaterThan(1);
    await second(40, true);
    expect(throttle.strength).toBeGreaterThan(first);
    for (let i = 0; i < 3; i++) await second(40, true);
    expect(throttle.strength).toBe(3);
    for (let i = 0; i < 30; i++) await second(21, true);
    expect(throttle.strength).toBeLessThan(0.1);
  });

  it('accepts searches that are slow by themselves', async () => {
    const { throttle, second } = throttleOf(1.3);
    for (let i = 0; i < 20; i++) await second(500, false);
    for (let i = 0; i < 20; i++) await second(520, true);
    expect(throttle.strength).toBeLessThan(0.1);
  });

  it('continues if other programs slow the searches, and pauses again if it slows them itself', async () => {
    const { throttle, second } = throttleOf(1.3);
    /** Bulk work at full speed doubles the time of a search. */
    const share = () => 1 / (1 + throttle.strength);
    const work = async (undisturbed: number) => second(undisturbed * (1 + share()), true);
    for (let i = 0; i < 10; i++) await second(20, false);
    // Eight times as long, and hardly longer because of the work.
    for (let i = 0; i < 40; i++) await second(160 * (1 + share() / 20), true);
    expect(throttle.strength).toBeLessThan(0.1);
    for (let i = 0; i < 40; i++) await work(160);
    expect(throttle.strength).toBeGreaterThan(1.5);
    // The other programs end, and the work pauses for a moment.
    for (let i = 0; i < 5; i++) await second(20, false);
    for (let i = 0; i < 40; i++) await work(20);
    expect(throttle.strength).toBeGreaterThan(0.5);
  });

  it('pauses in proportion to its strength, and never with 0', async () => {
    const { throttle, second } = throttleOf(1.3);
    await second(20, false);
    const from = performance.now();
    await throttle.rest(50);
    expect(performance.now() - from).toBeGreaterThan(40);
    const off = throttleOf(0);
    await off.second(20, false);
    for (let i = 0; i < 5; i++) await off.second(200, true);
    expect(off.throttle.strength).toBe(0);
  });
});
