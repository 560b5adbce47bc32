import { once } from 'node:events';
import { connect } from 'node:net';
import { Client } from 'pg';

/** Whether a PostgreSQL at this URL accepts connections and runs statements. */
export async function postgresIsUp(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 20_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    await client.end();
    return true;
  } catch {
    // Not awaited: closing a broken connection may never be confirmed.
    client.end().catch(() => {});
    return false;
  }
}

/** Whether a Redis at this URL answers PING. */
export async function redisIsUp(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port || 6379), hostname);
  socket.setTimeout(20_000, () => socket.destroy(new Error('silent')));
  socket.on('error', () => {});
  socket.write('PING\r\n');
  // Redis may close the connection without a reply and without an error.
  const reply = await Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => []);
  socket.destroy();
  return String(reply[0]).startsWith('+PONG');
}
