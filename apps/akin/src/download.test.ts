import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Semaphore } from '@akin/runtime';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { downloader } from './download.ts';

const MEGABYTE = 1_000_000;
const SETTINGS = { policy: { allowLoopback: true, allowPrivate: false } };

describe('files of pictures in memory', () => {
  let server: Server;
  let base: string;
  beforeEach(async () => {
    server = createServer((request, response) => {
      const size = request.url?.startsWith('/small') ? MEGABYTE / 2 : 3 * MEGABYTE;
      // Chunked, so that the size is not known in advance.
      if (request.url?.startsWith('/unknown')) response.write(Buffer.alloc(10, 1));
      else if (request.url?.startsWith('/hanging')) return;
      else if (request.url?.startsWith('/cut')) {
        response.writeHead(200, { 'content-length': size });
        response.write(Buffer.alloc(2 * MEGABYTE, 1), () => response.destroy());
        return;
      }
      response.end(Buffer.alloc(size, 1));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('stay within their budget, continue in order, urgent ones first, and do not delay small ones', async () => {
    const files = new Semaphore(7 * MEGABYTE);
    const download = downloader(SETTINGS, files);
    const { signal } = new AbortController();
    const held: string[] = [];
    const releases: (() => void)[] = [];
    const start = async (path: string, urgent = false) => {
      const { release } = await download(`${base}/${path}`, urgent, signal);
      held.push(path);
      releases.push(release);
    };
    const first = [start('a'), start('b')];
    await Promise.all(first);
    const waiting = [start('c'), start('d')];
    while (files.waiting < 2) await new Promise(setImmediate);
    const urgent = start('urgent', true);
    while (files.waiting < 3) await new Promise(setImmediate);
    await start('small');
    expect([held.sort(), files.taken]).toEqual([['a', 'b', 'small'], 6 * MEGABYTE]);
    held.length = 0;
    releases.shift()?.();
    await urgent;
    expect([held, files.taken]).toEqual([['urgent'], 6 * MEGABYTE]);
    for (const release of releases.splice(0)) release();
    await Promise.all(waiting);
    for (const release of releases) release();
    expect([files.taken, files.waiting]).toEqual([0, 0]);
  });

  it('count with their size when it is known, and no longer after a failure', async () => {
    const files = new Semaphore(100 * MEGABYTE);
    const download = downloader(SETTINGS, files);
    const { signal } = new AbortController();
    const { release, bytes } = await download(`${base}/unknown`, false, signal);
    expect(files.taken).toBe(bytes.length);
    await expect(download(`${base}/cut`, false, signal)).rejects.toMatchObject({ code: 'image-unreachable' });
    expect(files.taken).toBe(bytes.length);
    release();
    expect(files.taken).toBe(0);
  });

  it('come in the time that the operator allows, or less if the caller cannot wait so long', async () => {
    const settings = { ...SETTINGS, limits: { downloadMilliseconds: 50 } };
    const download = downloader(settings, new Semaphore(MEGABYTE), { bytes: MEGABYTE });
    const { signal } = new AbortController();
    const late = (seconds: string) => ({ message: expect.stringContaining(`within ${seconds} seconds`) });
    await expect(download(`${base}/hanging`, false, signal)).rejects.toMatchObject(late('0.05'));
    await expect(download(`${base}/hanging`, false, signal, 20)).rejects.toMatchObject(late('0.02'));
    await expect(download(`${base}/hanging`, false, signal, 1_000)).rejects.toMatchObject(late('0.05'));
  });
});
