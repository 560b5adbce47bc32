import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './server.ts';

/** Stands between a client and a server, and can be cut: connections break, new ones are refused, until mended. */
export interface BreakableProxy extends AsyncDisposable {
  /** The address of the server by way of this proxy. */
  readonly url: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** From now on nothing passes, and nobody is told: as when a network is cut. It cannot be mended. */
  stall(): void;
  /** Breaks all connections, and leads to another server from now on, as a name does that moves with the primary. */
  redirect(target: string): void;
}

/** @param target address of a server, with its port */
export async function openProxy(target: string): Promise<BreakableProxy> {
  let { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    return socket;
  };
  let isStalled = false;
  const server = createServer((client) => {
    if (isStalled) return void keep(client);
    const upstream = keep(connect(Number(port), hostname));
    keep(client).pipe(upstream).pipe(client);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  // While it is cut, nobody else gets its port.
  const own = await freePort();
  server.listen(own, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.host = `127.0.0.1:${own}`;
  const cut = async () => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return {
    url: url.href,
    cut,
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    redirect(other) {
      ({ hostname, port } = new URL(other));
      for (const socket of sockets) socket.destroy();
    },
    async mend() {
      server.listen(own, '127.0.0.1');
      await once(server, 'listening');
    },
    [Symbol.asyncDispose]: cut,
  };
}
