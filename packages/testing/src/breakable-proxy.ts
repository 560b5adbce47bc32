import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from './server.ts';

/**
 * A proxy between a client and a server. A test can cut it: connections break, and new ones are refused until it is
 * repaired.
 */
export interface BreakableProxy extends AsyncDisposable {
  /** The URL of the server through this proxy. */
  readonly url: string;
  cut(): Promise<void>;
  /** Forwards new connections again. Those that stalled stay as they are. */
  mend(): Promise<void>;
  /** Stops all traffic without closing connections, like an unplugged network cable. */
  stall(): void;
  /** Forwards new connections to another server, like a DNS name that moves to a new primary. */
  pointTo(target: string): void;
  /** The same, and breaks all connections. */
  redirect(target: string): void;
}

/**
 * @param target URL of a server, with its port
 * @param onReply called with each piece of data from the server
 */
export async function openProxy(target: string, onReply?: () => void): Promise<BreakableProxy> {
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
    if (onReply) upstream.on('data', onReply);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
  });
  // A port that the system assigns to no other program while the proxy is cut.
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
  const pointTo = (other: string) => {
    ({ hostname, port } = new URL(other));
  };
  return {
    url: url.href,
    cut,
    pointTo,
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    redirect(other) {
      pointTo(other);
      for (const socket of sockets) socket.destroy();
    },
    async mend() {
      isStalled = false;
      if (server.listening) return;
      server.listen(own, '127.0.0.1');
      await once(server, 'listening');
    },
    [Symbol.asyncDispose]: cut,
  };
}
