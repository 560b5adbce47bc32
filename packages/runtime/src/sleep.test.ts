import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { sleep } from './sleep.ts';

describe('sleep', () => {
  it('ends after its time and leaves nothing at the signal', async () => {
    const { signal } = new AbortController();
    const from = performance.now();
    await sleep(20, signal);
    expect(performance.now() - from).toBeGreaterThan(15);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it.each(['before', 'while it waits'])('throws the reason of the signal that aborts %s', async (when) => {
    const controller = new AbortController();
    const reason = new Error('enough');
    if (when === 'before') controller.abort(reason);
    const sleeping = sleep(3_600_000, controller.signal);
    controller.abort(reason);
    await expect(sleeping).rejects.toBe(reason);
  });
});
