import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { DEFAULT_GATEWAY_LIMITS } from '../admission/limits.ts';
import { openBody } from './body.ts';

const TEXT = 'fl=id&rows=10';
const WHOLE = `content-length: ${TEXT.length}\r\n\r\n${TEXT}`;
const CHUNKS = `transfer-encoding: chunked\r\n\r\n5\r\n${TEXT.slice(0, 5)}\r\n8\r\n${TEXT.slice(5)}\r\n0\r\n\r\n`;

describe('a body that has come before it is read', () => {
  it.each([
    ['of a known length', WHOLE],
    ['in chunks', CHUNKS],
  ])('is given as it came: %s', async (_, rest) => {
    await using client = await sendRequest(rest);
    expect(await textOf(await client.request)).toBe(TEXT);
  });

  it.each([WHOLE, CHUNKS])('is refused where it is too large', async (rest) => {
    await using client = await sendRequest(rest);
    await expect(textOf(await client.request, TEXT.length - 1)).rejects.toMatchObject({ code: 'too-large' });
  });

  it('is refused when its client is gone', async () => {
    await using client = await sendRequest(WHOLE);
    const request = await client.request;
    const closed = new Promise((resolve) => request.once('close', resolve));
    client.leave();
    await closed;
    await expect(textOf(request)).rejects.toThrow('The connection ended before the body did.');
  });
});

async function textOf(request: IncomingMessage, mostBytes = 1_000): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of openBody(request, DEFAULT_GATEWAY_LIMITS).bytes(mostBytes)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Sends a request to a server of its own. `request` resolves when all of it has come there. */
async function sendRequest(rest: string) {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = once(server, 'request').then(async ([request]: IncomingMessage[]) => {
    while (!(request as IncomingMessage).complete) await setImmediate();
    return request as IncomingMessage;
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
