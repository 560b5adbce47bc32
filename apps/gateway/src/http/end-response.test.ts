import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { endResponse } from './end-response.ts';

/** More than the operating system takes without a reader. */
const LARGE = Buffer.alloc(64 * 1024 ** 2);

describe('the end of a response', () => {
  it('disconnects a client that does not read', async () => {
    await using server = await serve();
    const [{ socket }, response] = await server.ask();
    endResponse(response, LARGE, 50);
    await once(response, 'close');
    expect(socket.destroyed).toBe(true);
  });

  it('sets no time limit for what follows on the connection', async () => {
    await using server = await serve();
    const [{ socket }, first] = await server.ask();
    endResponse(first, LARGE, 1_000_000);
    expect(socket.timeout).toBe(1_000_000);
    const [, second] = await server.ask();
    server.client.resume();
    await once(first, 'finish');
    await setImmediate();
    expect([first.writableFinished, socket.timeout]).toEqual([true, 0]);
    endResponse(second, Buffer.from('small'), 1_000_000);
    expect(socket.timeout).toBe(0);
  });
});

/** A server without a handler, and a connection to it that reads nothing yet. */
async function serve() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  return {
    client,
    ask: async () => {
      client.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
      return (await once(server, 'request')) as [IncomingMessage, ServerResponse];
    },
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
