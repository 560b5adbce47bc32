import { EventEmitter } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openPgBouncer, type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { PoolerError, type PostgresConnection, requireSessionPooling, setSession } from './postgres-session.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

async function connect(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  client.on('error', () => {});
  await client.connect();
  return client;
}

async function check(url: string): Promise<void> {
  const client = await connect(url);
  try {
    await requireSessionPooling(client, () => connect(url));
  } finally {
    await client.end();
  }
}

describe('a connection to PostgreSQL', () => {
  it('keeps its settings', async () => {
    const client = await connect(database.url);
    await setSession(client, { datestyle: 'ISO, YMD', work_mem: '32MB', search_path: 'a, "B c"', timezone: 'UTC' });
    const { rows } = await client.query(
      `select current_setting('work_mem') as memory, current_setting('search_path') as path`,
    );
    expect(rows).toEqual([{ memory: '32MB', path: 'a, "B c"' }]);
    await client.end();
  });

  it('rejects a setting that the server does not know', async () => {
    const client = await connect(database.url);
    await expect(setSession(client, { no_such_setting: '1' })).rejects.toThrow(/no_such_setting/);
    await client.end();
  });

  it('is known by its process, and asked for no second one', async () => {
    const client = await connect(database.url);
    await requireSessionPooling(client, () => Promise.reject(new Error('a second connection')));
    await client.end();
  });

  it('says that the settings did not last', async () => {
    // A pooler that gives each statement to another server.
    let pid = 0;
    const replies = [
      { pid: ++pid, held: ['32MB'] },
      { pid: ++pid, lost: ['work_mem'] },
    ];
    const forgetful = Object.assign(new EventEmitter(), { query: async () => ({ rows: [replies.shift()] }) });
    await expect(setSession(forgetful as unknown as PostgresConnection, { work_mem: '32MB' })).rejects.toThrow(
      /removed settings of the session \(work_mem\).*pool_mode = session/,
    );
  });
});

describe('a connection to PgBouncer', () => {
  it('is taken where it has a server of its own, and keeps its settings', async () => {
    await using pooler = await openPgBouncer(database.url, { pool_mode: 'session' });
    await check(pooler.url);
    const client = await connect(pooler.url);
    await setSession(client, { jit: 'off', work_mem: '32MB' });
    expect((await client.query('show work_mem')).rows).toEqual([{ work_mem: '32MB' }]);
    await client.end();
    // The next one gets the same server, as it was.
    const next = await connect(pooler.url);
    expect((await next.query('show work_mem')).rows).not.toEqual([{ work_mem: '32MB' }]);
    await next.end();
  });

  it.each([
    ['with a single server', 1, { default_pool_size: '1' }],
    ['with many servers', 3, {}],
    ['with servers that take turns', 2, { server_round_robin: '1' }],
  ])('is refused when it shares its server by transaction, %s', async (_, idle, settings) => {
    await using pooler = await openPgBouncer(database.url, { pool_mode: 'transaction', ...settings });
    // Some servers are there already, and idle.
    const busy = await Promise.all(Array.from({ length: idle }, () => connect(pooler.url)));
    for (const statement of ['begin', 'commit']) await Promise.all(busy.map((client) => client.query(statement)));
    const refused = check(pooler.url);
    await expect(refused).rejects.toThrow(/by transaction \(transaction pooling\).*pool_mode = session/);
    await expect(refused).rejects.toMatchObject({ isTransient: false });
    for (const client of busy) await client.end();
  });

  it('is refused when it shares its server by transaction, however busy that is', async () => {
    await using pooler = await openPgBouncer(database.url, { pool_mode: 'transaction', default_pool_size: '3' });
    const others = await Promise.all(Array.from({ length: 6 }, () => connect(pooler.url)));
    const stop = new AbortController();
    const load = others.map(async (client) => {
      while (!stop.signal.aborted) await client.query('select 1');
    });
    // The limit of the check also works after a garbage collection.
    setFlagsFromString('--expose-gc');
    const collecting = setInterval(runInNewContext('gc'), 200);
    try {
      await expect(check(pooler.url)).rejects.toThrow(/transaction pooling/);
    } finally {
      clearInterval(collecting);
      stop.abort();
      await Promise.all(load);
      for (const client of others) await client.end();
    }
  });

  it('is refused when it shares its server by statement', async () => {
    await using pooler = await openPgBouncer(database.url, { pool_mode: 'statement' });
    await expect(check(pooler.url)).rejects.toThrow(/by statement \(statement pooling\).*pool_mode = session/);
  });

  it('says that there is no room for a second one', async () => {
    await using pooler = await openPgBouncer(database.url, { pool_mode: 'session', default_pool_size: '1' });
    const refused = check(pooler.url);
    await expect(refused).rejects.toBeInstanceOf(PoolerError);
    await expect(refused).rejects.toMatchObject({
      isTransient: true,
      message: expect.stringContaining('default_pool_size'),
    });
  });
});
