import { describe, expect, it } from '@jest/globals';
import { HostLimit } from './host-limit.ts';

const NEVER = new AbortController().signal;

describe('the limit of downloads from a host', () => {
  /** Enters the limit and then adds the URL to `order`. */
  const acquiring = (limit: HostLimit, order: string[], url: string, urgent = false, signal = NEVER) =>
    limit.acquire(url, urgent, signal).then((release) => {
      order.push(url);
      return release;
    });

  it('lets requests to other hosts continue, and delays those over the limit of one host', async () => {
    const limit = new HostLimit(2);
    const order: string[] = [];
    const [first, second, third, ...others] = ['http://a/1', 'http://a/2', 'http://a/3', 'http://b/1', 'none'].map(
      (url) => acquiring(limit, order, url),
    );
    await Promise.all([first, second, ...others]);
    expect(order).toEqual(['http://a/1', 'http://a/2', 'http://b/1', 'none']);
    (await first)?.();
    await third;
    expect(order.at(-1)).toBe('http://a/3');
  });

  it('admits urgent calls before the others, each kind in order of arrival', async () => {
    const limit = new HostLimit(1);
    const order: string[] = [];
    const release = await acquiring(limit, order, 'http://a/0');
    const all = [
      acquiring(limit, order, 'http://a/1'),
      acquiring(limit, order, 'http://a/2', true),
      acquiring(limit, order, 'http://a/3'),
      acquiring(limit, order, 'http://a/4', true),
    ].map(async (entered) => (await entered)());
    release();
    await Promise.all(all);
    expect(order).toEqual(['http://a/0', 'http://a/2', 'http://a/4', 'http://a/1', 'http://a/3']);
  });

  it('forgets aborted callers, and admits none that was aborted before', async () => {
    const limit = new HostLimit(1);
    const order: string[] = [];
    const release = await acquiring(limit, order, 'http://a/0');
    const stop = new AbortController();
    const given = acquiring(limit, order, 'http://a/1', false, stop.signal);
    const next = acquiring(limit, order, 'http://a/2');
    stop.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    await expect(acquiring(limit, order, 'http://a/3', true, stop.signal)).rejects.toThrow('enough');
    release();
    await next;
    expect(order).toEqual(['http://a/0', 'http://a/2']);
  });
});
