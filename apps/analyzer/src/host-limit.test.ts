import { describe, expect, it } from '@jest/globals';
import { HostLimit } from './host-limit.ts';

describe('the limit of downloads from a host', () => {
  it('lets others go on, holds back what is too much for one, and forgets hosts that are done', async () => {
    const limit = new HostLimit(2);
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const run = (url: string) =>
      limit.run(url, () => {
        begun.push(url);
        return new Promise<void>((resolve) => ends.push(resolve));
      });
    const all = ['http://a/1', 'http://a/2', 'http://a/3', 'http://b/1', 'no address'].map(run);
    expect(begun).toEqual(['http://a/1', 'http://a/2', 'http://b/1', 'no address']);
    ends[0]?.();
    await all[0];
    expect(begun.at(-1)).toBe('http://a/3');
    for (const end of ends) end();
    await Promise.all(all);
  });

  it('hands the place of one that failed to the next', async () => {
    const limit = new HostLimit(1);
    const failing = limit.run('http://a/1', () => Promise.reject(new Error('gone')));
    const next = limit.run('http://a/2', async () => 'done');
    await expect(failing).rejects.toThrow('gone');
    expect(await next).toBe('done');
  });
});
