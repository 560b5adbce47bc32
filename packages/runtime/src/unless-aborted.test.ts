import { getEventListeners } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { unlessAborted } from './unless-aborted.ts';

describe('a promise that is waited for until a signal aborts', () => {
  it('gives its result or error, and leaves no listener', async () => {
    const { signal } = new AbortController();
    await expect(unlessAborted(Promise.resolve(1), signal)).resolves.toBe(1);
    await expect(unlessAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    await expect(unlessAborted(Promise.resolve(2), undefined)).resolves.toBe(2);
  });

  it('is given up with the reason of the signal, before or during the wait', async () => {
    const never = new Promise<void>(() => {});
    await expect(unlessAborted(never, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
    const controller = new AbortController();
    const waiting = unlessAborted(never, controller.signal);
    controller.abort(new Error('during'));
    await expect(waiting).rejects.toThrow('during');
  });

  it('may fail later without an effect', async () => {
    let fail = (_error: Error) => {};
    const late = new Promise<void>((_, reject) => {
      fail = reject;
    });
    await expect(unlessAborted(late, AbortSignal.abort(new Error('stopped')))).rejects.toThrow('stopped');
    fail(new Error('late'));
    await new Promise((resolve) => setImmediate(resolve));
  });
});
