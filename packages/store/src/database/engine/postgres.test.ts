import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { openPgBouncer, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Engine } from './engine.ts';
import { openPostgres } from './postgres.ts';

describe('a PostgreSQL with the settings it comes with', () => {
  it('compiles no statements, although plans that a transaction forbids cost 10,000,000,000', async () => {
    const database = await testDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("do $$ begin execute format('alter database %I set jit = on', current_database()); end $$");
    await client.query('create table things (id int); insert into things values (1)');
    await client.end();
    const engine = await openPostgres(database.url);
    const rows = await engine.transaction(
      (tx) => tx.query('explain (analyze) select id from things where id % 2 = 1'),
      { keyed: true },
    );
    const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(plan).toContain('Seq Scan on things');
    expect(plan).not.toContain('JIT:');
    expect(await engine.query('show jit')).toEqual([{ jit: 'off' }]);
    await engine[Symbol.asyncDispose]();
    await database.drop();
  });
});

describe('an engine on PostgreSQL that is closed', () => {
  it('cancels statements that would wait forever, whose transactions roll back, also behind a pooler', async () => {
    const database = await testDatabase();
    await using pooler = await openPgBouncer(database.url, { pool_mode: 'session' });
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query('create table things (id int); create table notes (id int)');
    for (const url of [database.url, pooler.url]) {
      const engine = await openPostgres(url);
      await other.query('begin; lock table things');
      let waits = () => {};
      const waiting = new Promise<void>((resolve) => {
        waits = resolve;
      });
      const work = engine.transaction(async (tx) => {
        await tx.query('insert into notes values (1)');
        waits();
        // The next statement after a failure is refused.
        await tx.query('insert into things values (1)').catch(() => tx.query('insert into things values (2)'));
      });
      const ended = expect(work).rejects.toMatchObject({ code: 'unavailable' });
      await waiting;
      await engine[Symbol.asyncDispose]();
      await ended;
      expect((await other.query('select id from notes')).rows).toEqual([]);
      await other.query('rollback');
    }
    await other.end();
    await database.drop();
  });
});

describe('a PostgreSQL behind PgBouncer', () => {
  it('supports everything in session pooling, on any connection', async () => {
    const database = await testDatabase();
    await using pooler = await openPgBouncer(database.url, { pool_mode: 'session' });
    let onNotification: (text: string) => void = () => undefined;
    const notified = new Promise<string>((resolve) => {
      onNotification = resolve;
    });
    const engine = await openPostgres(pooler.url, { connections: 3, onNotification });
    const settings = () =>
      engine.transaction((tx) =>
        tx.query("select current_setting('jit') as jit, current_setting('work_mem') as memory"),
      );
    const expected = [{ jit: 'off', memory: '32MB' }];
    expect(await Promise.all([settings(), settings(), settings()])).toEqual([expected, expected, expected]);
    await engine.query('select pg_notify($1, $2)', ['akin', 'news']);
    expect(await notified).toBe('news');
    await expect(openPostgres(pooler.url)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Another akin'),
    });
    await engine[Symbol.asyncDispose]();
    await database.drop();
  });

  it.each(['transaction', 'statement'])('is refused in %s pooling, by name', async (mode) => {
    const database = await testDatabase();
    await using pooler = await openPgBouncer(database.url, { pool_mode: mode });
    await expect(openPostgres(pooler.url)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(new RegExp(`${mode} pooling.*pool_mode = session`)),
    });
    // Nothing of akin is left in a pool that others use.
    const next = new pg.Client({ connectionString: pooler.url });
    await next.connect();
    expect((await next.query('show plan_cache_mode')).rows).toEqual([{ plan_cache_mode: 'auto' }]);
    await next.end();
    await database.drop();
  });
});

describe('a PostgreSQL that becomes unreachable', () => {
  let url: string;
  let drop: () => Promise<void>;
  let engine: Engine;

  beforeAll(async () => {
    const database = await testDatabase();
    url = database.url;
    drop = () => database.drop();
    engine = await openPostgres(url, { connections: 3 });
  });

  afterAll(async () => {
    await engine?.[Symbol.asyncDispose]();
    await drop?.();
  });

  const breakConnections = async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    await client.end();
  };

  it('is unavailable, with a time to try again, if nothing listens', async () => {
    await expect(openPostgres('postgres://nobody@127.0.0.1:1/nothing')).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: expect.any(Number),
    });
  });

  it('reports an invalid URL, without showing it', async () => {
    await expect(openPostgres('postgres://user:secret@[half/x')).rejects.toMatchObject({
      code: 'bad-request',
      message: expect.not.stringContaining('secret'),
    });
  });

  it('ends a statement whose connection breaks as unavailable, and continues with new connections', async () => {
    const running = engine.query('select pg_sleep(600)');
    const refused = expect(running).rejects.toMatchObject({ code: 'unavailable' });
    // The statement must run before its connection is broken.
    const started = `select 1 from pg_stat_activity
      where datname = current_database() and state = 'active' and query = 'select pg_sleep(600)'`;
    while ((await engine.query(started)).length === 0);
    await breakConnections();
    await refused;
    // Idle connections that broke too are noticed a moment later.
    const read = async () => engine.query<{ one: number }>('select 1 as one').catch(() => undefined);
    for (let rows: unknown[] = [undefined]; rows.includes(undefined); ) {
      rows = await Promise.all([read(), read(), read()]);
    }
  });

  it('gives a connection that the server has ended to nobody', async () => {
    const database = await testDatabase();
    const single = await openPostgres(database.url, { connections: 1 });
    for (let i = 0; i < 10; i++) {
      const ended = single.query('select pg_terminate_backend(pg_backend_pid())');
      // Waits for the only connection.
      const next = single.query('select 1 as one');
      await expect(ended).rejects.toMatchObject({ code: 'unavailable' });
      expect(await next).toEqual([{ one: 1 }]);
    }
    await single[Symbol.asyncDispose]();
    await database.drop();
  });

  it('locks the database again after its lock was lost', async () => {
    const holder = async () => {
      const [row] = await engine.query<{ pid: number }>(
        `select pid from pg_locks where locktype = 'advisory' and granted
            and database = (select oid from pg_database where datname = current_database())`,
      );
      return row?.pid;
    };
    const before = await holder();
    await breakConnections();
    // The broken one has it until its server process has ended.
    for (let now = before; now === undefined || now === before; ) now = await holder().catch(() => undefined);
    await expect(openPostgres(url)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Another akin'),
    });
  });

  it('waits for the end of the akin that has the lock', async () => {
    const database = await testDatabase();
    const first = await openPostgres(database.url, { name: 'first' });
    const opening = openPostgres(database.url, { name: 'second' });
    const refused = `select 1 from pg_stat_activity where application_name = 'second' and state = 'idle' and query like '%pg_try_advisory_lock%'`;
    while ((await first.query(refused)).length === 0);
    await first[Symbol.asyncDispose]();
    await (await opening)[Symbol.asyncDispose]();
    await database.drop();
  });

  it('is not locked again after the end of an akin that was about to do so', async () => {
    const database = await testDatabase();
    await using door = await openDoor(database.url);
    const engine = await openPostgres(door.url, { name: 'leaving' });
    door.shut();
    while (door.waiting() === 0) await new Promise(setImmediate);
    const left = engine[Symbol.asyncDispose]();
    door.open();
    await left;
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    const isLocked = `select 1 from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`;
    while (door.connections() > 0 && (await other.query(isLocked)).rowCount === 0);
    expect(door.connections()).toBe(0);
    await other.end();
    await database.drop();
  });

  it('cancels a search that runs too long', async () => {
    const searching = engine.transaction((tx) => tx.query('select pg_sleep(30)'), {
      snapshot: true,
      timeoutMilliseconds: 50,
    });
    await expect(searching).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('cancels a statement of a search that runs too long, and no later one on its connection', async () => {
    const database = await testDatabase();
    const alone = await openPostgres(database.url, { connections: 1 });
    try {
      await expect(alone.read('select pg_sleep(30)', [], { timeoutMilliseconds: 50 })).rejects.toMatchObject({
        code: 'unavailable',
      });
      const limit = 'show statement_timeout';
      expect(await alone.transaction((tx) => tx.query(limit))).toEqual([{ statement_timeout: '0' }]);
      expect(await alone.read(limit, [], { timeoutMilliseconds: 1_500 })).toEqual([{ statement_timeout: '1500ms' }]);
      expect(await alone.query(limit)).toEqual([{ statement_timeout: '0' }]);
    } finally {
      await alone[Symbol.asyncDispose]();
      await database.drop();
    }
  });
});

/** A way to a server, on which connections break and new ones wait while it is shut. */
async function openDoor(target: string) {
  const { hostname, port } = new URL(target);
  const here = new Set<Socket>();
  let waiting: Socket[] | undefined;
  const forwardClient = (client: Socket) => {
    // It did not wait that long, and will not close again.
    if (client.destroyed) return;
    const server = connect(Number(port), hostname);
    client.pipe(server).pipe(client);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.on('error', () => {}).on('close', () => other.destroy());
    }
  };
  const listener = createServer((client) => {
    here.add(client);
    client.on('error', () => {}).on('close', () => here.delete(client));
    if (waiting) waiting.push(client);
    else forwardClient(client);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.host = `127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return {
    url: url.href,
    connections: () => here.size,
    waiting: () => waiting?.length ?? 0,
    shut() {
      waiting = [];
      for (const client of here) client.destroy();
    },
    open() {
      for (const client of waiting ?? []) forwardClient(client);
      waiting = undefined;
    },
    async [Symbol.asyncDispose]() {
      for (const client of here) client.destroy();
      listener.close();
    },
  };
}
