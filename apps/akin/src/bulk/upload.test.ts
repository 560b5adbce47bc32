import { once } from 'node:events';
import { createServer, globalAgent, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createClient } from '@akin/client';
import { afterEach, expect, it } from '@jest/globals';
import { upload } from './upload.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(handle).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const client = createClient({ baseUrl: url, retries: 0, fetch: upload });
  const send = (body: Uint8Array<ArrayBuffer>, signal?: AbortSignal) =>
    client.collection('c').addJson(body, {}, { lines: true, ...(signal && { signal }) });
  return { send, url };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const responseOf = (count: number) => JSON.stringify({ operations: { first: 'c-1', last: `c-${count}`, count } });

it('sends bodies of bytes whole, over one connection, and returns the response', async () => {
  const sockets = new Set<unknown>();
  const seen: { bytes: number; type: string | undefined; length: string | undefined }[] = [];
  const { send } = await serve(async (request, response) => {
    sockets.add(request.socket);
    const { 'content-type': type, 'content-length': length } = request.headers;
    seen.push({ bytes: (await bytesOf(request)).length, type, length });
    response.end(responseOf(seen.length));
  });
  const body = new Uint8Array(3_000_000).fill(0x20);
  expect(await send(body)).toMatchObject({ operations: { count: 1 } });
  expect(await send(body)).toMatchObject({ operations: { count: 2 } });
  const one = { bytes: 3_000_000, type: 'application/x-ndjson', length: '3000000' };
  expect(seen).toEqual([one, one]);
  expect(sockets.size).toBe(1);
});

it('returns a refusal that comes before the body was read', async () => {
  const { send } = await serve((_request, response) => {
    response.writeHead(429, { 'retry-after': '7', connection: 'close' });
    response.end(JSON.stringify({ error: { msg: 'too much' } }));
  });
  await expect(send(new Uint8Array(1_000))).rejects.toMatchObject({
    status: 429,
    message: 'too much',
    retryAfterSeconds: 7,
  });
});

it('says where a redirect leads to', async () => {
  const { send, url } = await serve((request, response) => {
    response.writeHead(308, { location: `https://127.0.0.1${request.url}`, connection: 'close' }).end();
  });
  await expect(send(new Uint8Array(5))).rejects.toMatchObject({
    status: 308,
    message: expect.stringContaining(`${url} redirects to https://127.0.0.1/api/`),
  });
});

it('gives up when the server is silent for too long', async () => {
  const { send } = await serve((request) => {
    // Other tests of this process may have sockets there, too.
    const sockets = Object.values(globalAgent.sockets).flat();
    const ours = sockets.find((socket) => socket?.localPort === request.socket.remotePort);
    expect(ours?.timeout).toBe(300_000);
    ours?.emit('timeout');
  });
  await expect(send(new Uint8Array(5))).rejects.toMatchObject({
    status: 0,
    message: expect.stringContaining('silent for 300 seconds'),
  });
});

it('says if nobody answers, and stops when it is told to', async () => {
  const stop = new AbortController();
  const silent = await serve(() => stop.abort(new Error('stopped')));
  await expect(silent.send(new Uint8Array(5), stop.signal)).rejects.toThrow();

  for (const server of servers) server.close().closeAllConnections();
  await expect(silent.send(new Uint8Array(5))).rejects.toMatchObject({ status: 0 });
});
