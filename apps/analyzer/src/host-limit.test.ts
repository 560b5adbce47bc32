import { describe, expect, it } from '@jest/globals';
import { HostLimit } from './host-limit.ts';

const NEVER = new AbortController().signal;

describe('the limit of downloads from a host', () => {
  /** Enters the limit and then adds the URL to `order`. */
  const entering = (limit: HostLimit, order: string[], url: string, urgent = false, signal = NEVER) =>
    limit.enter(url, urgent, signal).then((leave) => {
      order.push(url);
      return leave;
    });

  it('lets requests to other hosts continue, and delays those over the limit of one host', async () => {
    const limit = new HostLimit(2);
    const order: string[] = [];
    const [first, second, third, ...others] = ['http://a/1', 'http://a/2', 'http://a/3', 'http://b/1', 'none'].map(
      (url) => entering(limit, order, url),
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
    const leave = await entering(limit, order, 'http://a/0');
    const all = [
      entering(limit, order, 'http://a/1'),
      entering(limit, order, 'http://a/2', true),
      entering(limit, order, 'http://a/3'),
      entering(limit, order, 'http://a/4', true),
    ].map(async (entered) => (await entered)());
    leave();
    await Promise.all(all);
    expect(order).toEqual(['http://a/0', 'http://a/2', 'http://a/4', 'http://a/1', 'http://a/3']);
  });

  it('forgets aborted callers, and admits none that was aborted before', async () => {
    const limit = new HostLimit(1);
    const order: string[] = [];
    const leave = await entering(limit, order, 'http://a/0');
    const stop = new AbortController();
    const given = entering(limit, order, 'http://a/1', false, stop.signal);
    const next = entering(limit, order, 'http://a/2');
    stop.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    await expect(entering(limit, order, 'http://a/3', true, stop.signal)).rejects.toThrow('enough');
    leave();
    await next;
    expect(order).toEqual(['http://a/0', 'http://a/2']);
  });
});
