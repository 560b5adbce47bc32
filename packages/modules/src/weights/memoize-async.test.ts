import { describe, expect, it } from '@jest/globals';
import { memoizeAsync } from './memoize-async.ts';

describe('once', () => {
  it('runs once for the same arguments, also for concurrent callers', async () => {
    const made: string[] = [];
    const get = memoizeAsync(async (name: string, kind: string) => made.push(`${name}/${kind}`));
    expect(await Promise.all([get('a', 'x'), get('a', 'x'), get('a', 'y'), get('b', 'x')])).toEqual([1, 1, 2, 3]);
    expect(await get('a', 'x')).toBe(1);
    expect(made).toEqual(['a/x', 'a/y', 'b/x']);
  });

  it('tries again after a failure, which is not cached', async () => {
    let tries = 0;
    const get = memoizeAsync(async () => {
      tries++;
      if (tries === 1) throw new Error('too many open files');
      return tries;
    });
    const first = [get(), get()];
    for (const failed of first) await expect(failed).rejects.toThrow('too many open files');
    expect([await get(), await get()]).toEqual([2, 2]);
  });
});
