import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';

const lookup = jest.fn<(host: string) => Promise<LookupAddress[]>>();
jest.unstable_mockModule('node:dns/promises', () => ({ lookup }));
const { downloadImage } = await import('./download.ts');

const LOOPBACK: LookupAddress[] = [{ address: '127.0.0.1', family: 4 }];
const server = http.createServer((_, response) => response.end('GIF89a'));
let port: number;

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => void server.close());

const download = (host: string, limits = {}) =>
  downloadImage(`http://${host}.example:${port}/a.gif`, {
    policy: { allowLoopback: true, allowPrivate: false },
    limits,
  });

describe('the lookup of a host name', () => {
  /** Ends the lookups of names with a DNS server that does not answer. */
  let reply: (addresses: LookupAddress[]) => void;

  beforeEach(() => {
    const slow = new Promise<LookupAddress[]>((resolve) => {
      reply = resolve;
    });
    lookup.mockReset().mockImplementation((host) => (host.startsWith('slow') ? slow : Promise.resolve(LOOPBACK)));
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('serves all downloads from that host, and no later ones', async () => {
    const downloads = Array.from({ length: 6 }, () => download('slow'));
    expect(await download('other')).toHaveLength(6);
    expect(lookup.mock.calls.map(([host]) => host)).toEqual(['slow.example', 'other.example']);
    reply(LOOPBACK);
    expect(await Promise.all(downloads)).toHaveLength(6);
    await download('slow');
    expect(lookup).toHaveBeenCalledTimes(3);
  });

  it('does not count as download time', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] });
    const bytes = download('slow', { downloadMilliseconds: 2_000 });
    jest.advanceTimersByTime(10_000);
    reply(LOOPBACK);
    expect(await bytes).toHaveLength(6);
  });

  it('has a time limit, after which another try may succeed', async () => {
    await expect(download('slow', { lookupMilliseconds: 10 })).rejects.toMatchObject({
      code: 'image-unreachable',
      message: expect.stringMatching(/could not be looked up in time/),
      retryAfterSeconds: 1,
    });
    reply(LOOPBACK);
  });

  it.each([
    ['EAI_AGAIN', /could not be looked up in time/, 1],
    ['ENOTFOUND', /is not known/, undefined],
  ])('that ends with %s', async (code, message, retryAfterSeconds) => {
    lookup.mockRejectedValueOnce(Object.assign(new Error('no'), { code }));
    const error = await download('other').catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'image-unreachable', message: expect.stringMatching(message) });
    expect(error).toHaveProperty('retryAfterSeconds', retryAfterSeconds);
  });
});
