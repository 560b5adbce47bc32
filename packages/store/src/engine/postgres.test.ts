import { testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import type { Engine } from './engine.ts';
import { openPostgres } from './postgres.ts';

describe('a PostgreSQL that goes away', () => {
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

  it('is unavailable, with a time to try again, when nobody listens', async () => {
    await expect(openPostgres('postgres://nobody@127.0.0.1:1/nothing')).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: expect.any(Number),
    });
  });

  it('says that an address cannot be read, without showing it', async () => {
    await expect(openPostgres('postgres://user:secret@[half/x')).rejects.toMatchObject({
      code: 'bad-request',
      message: expect.not.stringContaining('secret'),
    });
  });

  it('ends a statement whose connection breaks as unavailable, and goes on with new connections', async () => {
    const running = engine.query('select pg_sleep(30)');
    const refused = expect(running).rejects.toMatchObject({ code: 'unavailable' });
    // The statement has to be at work before its connection is broken.
    while ((await engine.query("select 1 from pg_stat_activity where query = 'select pg_sleep(30)'")).length === 0);
    await breakConnections();
    await refused;
    // Idle connections that broke too are noticed a moment later.
    const answer = async () => engine.query('select 1 as one').catch(() => undefined);
    while ((await answer()) === undefined);
    expect(await Promise.all([answer(), answer(), answer()])).toEqual(Array(3).fill([{ one: 1 }]));
  });

  it('takes the database again for itself after its lock was lost', async () => {
    await breakConnections();
    const holders = `select 1 from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`;
    for (;;) {
      const rows = await engine.query(holders).catch(() => []);
      if (rows.length > 0) break;
    }
    await expect(openPostgres(url)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Another akin'),
    });
  });

  it('cancels a search that runs too long', async () => {
    const searching = engine.transaction((tx) => tx.query('select pg_sleep(30)'), {
      snapshot: true,
      timeoutMilliseconds: 50,
    });
    await expect(searching).rejects.toMatchObject({ code: 'unavailable' });
  });
});
