import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { databaseFolder } from '../../../test/support.ts';
import { watchThreads } from '../../../test/threads.ts';
import type { Queryable } from './engine.ts';
import { openPglite, type PgliteEngine } from './pglite.ts';
import { wasCancelled } from './sqlstate.ts';

/** Takes minutes. */
const SLOW = 'select count(*) from generate_series(1, 2000000000)';

describe('a thread of the embedded database that dies', () => {
  let folder: string;
  let remove: () => Promise<void>;
  let engine: PgliteEngine;
  let warnings: string[];
  let watched: ReturnType<typeof watchThreads>;

  beforeEach(async () => {
    ({ folder, remove } = await databaseFolder());
    warnings = [];
    watched = watchThreads('pglite-thread');
    engine = await openPglite(folder, { warn: (text) => warnings.push(text) });
    await engine.query('create table kept (n int primary key)');
  });

  afterEach(async () => {
    watched.end();
    await engine[Symbol.asyncDispose]();
    await remove();
  });

  const kill = () => watched.threads.at(-1)?.terminate();

  it('is replaced at the next use; committed data is there, and an open transaction is not', async () => {
    await engine.query('insert into kept values (1)');
    const cutOff = engine.transaction(async (tx) => {
      await tx.query('insert into kept values (2)');
      await kill();
      await tx.query('insert into kept values (3)');
    });
    await expect(cutOff).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: expect.any(Number) });
    expect(await engine.query('select n from kept')).toEqual([{ n: 1 }]);
    expect(warnings).toEqual([
      expect.stringMatching(/thread.*failed: it ended.*will be restarted/),
      expect.stringMatching(/answers again after \d+ ms/),
    ]);
  });

  it('fails the running statement, and no waiting one', async () => {
    const under = engine.query(SLOW);
    const behind = [engine.query('select 1 as one'), engine.query('select 2 as two', [], 'bulk')];
    await kill();
    await expect(under).rejects.toMatchObject({ code: 'unavailable' });
    expect(await Promise.all(behind)).toEqual([[{ one: 1 }], [{ two: 2 }]]);
  });

  it('is replaced by one with the same settings', async () => {
    const settings = () =>
      engine.query(
        `select name, setting from pg_settings where source = 'session' or name in ('timezone', 'plan_cache_mode') order by name`,
      );
    const before = await settings();
    await kill();
    expect(await settings()).toEqual(before);
    expect(before.length).toBeGreaterThan(3);
  });

  it('is started again after a failed start, with the reason in the log', async () => {
    await engine.query('insert into kept values (1)');
    const away = join(folder, 'away');
    await rename(join(folder, 'pg'), away);
    await kill();
    const refused = {
      code: 'unavailable',
      retryAfterSeconds: 1,
      message: expect.stringContaining('cannot be restarted'),
    };
    await expect(engine.query('select 1')).rejects.toMatchObject(refused);
    // It is not tried again before its time.
    const starts = watched.threads.length;
    await expect(engine.query('select 1')).rejects.toMatchObject(refused);
    expect(watched.threads.length).toBe(starts);
    expect(warnings.at(-1)).toMatch(/cannot be started again: .+ Next try in 500 ms/);

    await rename(away, join(folder, 'pg'));
    const again = async (): Promise<unknown> =>
      engine.query('select n from kept').catch(() => new Promise((resolve) => setTimeout(() => resolve(again()), 20)));
    expect(await again()).toEqual([{ n: 1 }]);
  });

  it('is replaced if PostgreSQL reports its end and no longer answers', async () => {
    await engine.query('insert into kept values (1)');
    const log = join(folder, 'pg', 'pg_wal');
    await rename(log, `${log}.away`);
    // A new segment of the write-ahead log cannot be created.
    const dies = async (n: number): Promise<unknown> =>
      engine
        .transaction(async (tx) => {
          await tx.query('select pg_switch_wal()');
          await tx.query('insert into kept values ($1)', [n]);
        })
        .then(
          () => dies(n + 1),
          (error: unknown) => error,
        );
    const error = await dies(2);
    await rename(`${log}.away`, log);
    expect(error).toMatchObject({ code: 'unavailable', retryAfterSeconds: expect.any(Number) });
    expect(await engine.query('select n from kept where n = 1')).toEqual([{ n: 1 }]);
    expect(warnings).toEqual([
      expect.stringMatching(/thread.*failed: could not .*pg_wal.*It will be restarted/),
      expect.stringMatching(/answers again/),
    ]);
  });

  it('ends with the running statement when the database is closed, as do all waiting ones', async () => {
    const under = engine.query(SLOW).catch((error: unknown) => error);
    const behind = [engine.query('select 1'), engine.query('select 2', [], 'bulk')].map((one) =>
      one.catch((error: unknown) => error),
    );
    await engine[Symbol.asyncDispose]();
    for (const error of await Promise.all([under, ...behind])) expect(error).toMatchObject({ code: 'unavailable' });
    engine = await openPglite(folder);
    expect(await engine.query('select n from kept')).toEqual([]);
  });

  it('closes when it is dead', async () => {
    await kill();
    await engine[Symbol.asyncDispose]();
    await expect(engine.query('select 1')).rejects.toMatchObject({ code: 'unavailable' });
    engine = await openPglite(folder);
    expect(await engine.query('select n from kept')).toEqual([]);
  });

  it('ends with a statement that exceeds the limit of its transaction', async () => {
    const search = (read: (tx: Queryable) => Promise<unknown>) =>
      engine.transaction(read, { snapshot: true, timeoutMilliseconds: 1_000 });
    const slow = search((tx) => tx.query(SLOW)).catch((error: unknown) => error);
    const behind = engine.query('select 1 as one');
    expect(wasCancelled(await slow)).toBe(true);
    expect(await behind).toEqual([{ one: 1 }]);
    // A reply contains the results of the statements before the slow one.
    const partial = search(async (tx) => {
      const read = await tx.query('select 2 as two');
      await tx.query(SLOW).catch(() => undefined);
      return read;
    });
    expect(await partial).toEqual([{ two: 2 }]);
    expect(await search((tx) => tx.query('select 3 as three'))).toEqual([{ three: 3 }]);
  });
});
