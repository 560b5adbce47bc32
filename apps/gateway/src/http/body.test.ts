import { once } from 'node:events';
import { createServer, IncomingMessage } from 'node:http';
import { type AddressInfo, connect, Socket } from 'node:net';
import { setImmediate as tick } from 'node:timers/promises';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { DEFAULT_GATEWAY_LIMITS, type GatewayLimits } from '../admission/limits.ts';
import { openBody } from './body.ts';
import { Lifetime } from './lifetime.ts';

const TEXT = 'fl=id&rows=10';
const WHOLE = `content-length: ${TEXT.length}\r\n\r\n${TEXT}`;
const CHUNKS = `transfer-encoding: chunked\r\n\r\n5\r\n${TEXT.slice(0, 5)}\r\n8\r\n${TEXT.slice(5)}\r\n0\r\n\r\n`;

afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

describe('a body that has come before it is read', () => {
  it.each([
    ['of a known length', WHOLE],
    ['in chunks', CHUNKS],
  ])('is given as it came: %s', async (_, rest) => {
    await using client = await sendRequest(rest, whenComplete);
    expect(await textOf(await client.request)).toBe(TEXT);
  });

  it('is not waited for where it came with its headers', async () => {
    const timers = jest.spyOn(globalThis, 'setTimeout');
    await using client = await sendRequest(WHOLE, async (request) => {
      // The gate, which every request passes, also waits once before the body is read.
      await undefined;
      return textOf(request);
    });
    expect(await client.request).toBe(TEXT);
    expect(timers).not.toHaveBeenCalledWith(expect.anything(), DEFAULT_GATEWAY_LIMITS.bodyIdleMilliseconds);
  });

  it.each([WHOLE, CHUNKS])('is refused where it is too large', async (rest) => {
    await using client = await sendRequest(rest, whenComplete);
    await expect(textOf(await client.request, TEXT.length - 1)).rejects.toMatchObject({ code: 'too-large' });
  });

  it('is refused when its client is gone', async () => {
    await using client = await sendRequest(WHOLE, whenComplete);
    const request = await client.request;
    const closed = new Promise((resolve) => request.once('close', resolve));
    client.leave();
    await closed;
    await expect(textOf(request)).rejects.toThrow('The connection ended before the body did.');
  });
});

it('a body is read as far as it came while this process was held up, even if the time is over', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  const request = new IncomingMessage(new Socket());
  request.headers['content-length'] = String(TEXT.length);
  const text = textOf(request);
  await tick();
  // The event loop finds both in one turn, the timer first.
  setImmediate(() => {
    request.push(TEXT);
    request.push(null);
  });
  jest.advanceTimersByTime(DEFAULT_GATEWAY_LIMITS.bodyIdleMilliseconds);
  expect(await text).toBe(TEXT);
});

async function textOf(
  request: IncomingMessage,
  maxBytes = 1_000,
  limits: GatewayLimits = DEFAULT_GATEWAY_LIMITS,
): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of openBody(request, limits, new Lifetime()).bytes(maxBytes)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function whenComplete(request: IncomingMessage): Promise<IncomingMessage> {
  while (!request.complete) await tick();
  return request;
}

/** Sends a request to a server of its own. `request` is what the server makes of it. */
async function sendRequest<T>(rest: string, handle: (request: IncomingMessage) => Promise<T>) {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = new Promise<T>((resolve, reject) => {
    server.once('request', (request) => handle(request).then(resolve, reject));
  });
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(`POST / HTTP/1.1\r\nhost: akin\r\n${rest}`);
  return {
    request,
    leave: () => socket.destroy(),
    async [Symbol.asyncDispose]() {
      socket.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
