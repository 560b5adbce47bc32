import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@akin/client';
import { afterEach, expect, it } from '@jest/globals';
import { OperationWatcher } from './operation-watcher.ts';
import { retryTransient } from './retry-transient.ts';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

it('continues after akin was unreachable, and reports each failure once', async () => {
  const { signal } = new AbortController();
  const failed = [1, 2].map((seq) => ({ operation: `c-${seq}`, id: `id-${seq}`, reason: { msg: 'gone' } }));
  let requests = 0;
  server = createServer((request, response) => {
    requests++;
    if (requests === 1) return void request.socket.destroy();
    if (requests % 2 === 0) return void response.writeHead(503, { 'retry-after': '0' }).end('{}');
    const { searchParams } = new URL(request.url ?? '/', 'http://akin');
    const page =
      searchParams.get('state') !== 'failed'
        ? { operations: [] }
        : searchParams.get('cursor') === '0'
          ? { operations: failed.slice(0, 1), nextCursor: '1' }
          : { operations: failed.slice(1) };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(page));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const collection = createClient({ baseUrl: `http://127.0.0.1:${port}` }).collection('c');
  const reported: unknown[] = [];
  const range = { first: 1, last: 3, lines: [7, 8, 9] };
  const follow = new OperationWatcher(
    collection,
    [range],
    (...failure) => reported.push(failure),
    (ask) => retryTransient(ask, 60_000, signal),
  );

  expect(follow.waiting).toBe(3);
  await follow.waitForCapacity(signal, true);
  expect(reported).toEqual([
    [7, 'id-1', 'gone'],
    [8, 'id-2', 'gone'],
  ]);
  expect(follow.waiting).toBe(0);
  expect(requests).toBeGreaterThan(8);
});
