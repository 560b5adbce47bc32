import { AkinError } from '@akin/domain';
import { type KillableServer, killablePostgres } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runOn } from '../../test/run-on.ts';
import { accept, parseTestOutputs, TEST_MODULES, testOutputs, visible } from '../../test/support.ts';
import { waitForOperations } from '../accept/operations.ts';
import { collectionStatus, createCollection, findCollection } from '../collections/collections.ts';
import type { Collection, Store } from '../context.ts';
import { openStore } from '../store.ts';
import { commit } from './commit.ts';

describe('servers that die', () => {
  let main: KillableServer;
  let other: KillableServer;
  let store: Store;
  const open = () =>
    openStore({
      ...{ databaseUrl: main.url, shardServers: new Map([['b', other.url]]) },
      ...{ modules: TEST_MODULES, parseOutputs: parseTestOutputs, graceMilliseconds: 0 },
    });
  const ask = (sql: string) => runOn(other.url, sql);
  const shelf = (count: number, from = 0) =>
    Array.from({ length: count }, (_, i) => ({
      id: `document ${from + i}`,
      import: testOutputs({ shape: [1, i, 0, 0] }),
    }));

  /** Its connections may be broken. */
  const closed = async () => {
    try {
      await store?.[Symbol.asyncDispose]();
    } catch {
      // Nothing is left to be closed.
    }
  };

  beforeAll(async () => {
    [main, other] = await Promise.all([killablePostgres(), killablePostgres()]);
    // Only statements with a trigger wait for standbys.
    await ask('alter database postgres set synchronous_commit = local');
    store = await open();
  });
  afterAll(async () => {
    await closed();
    await main?.[Symbol.asyncDispose]();
    await other?.[Symbol.asyncDispose]();
  });

  /**
   * Commits until a transaction that adds documents there is on disk, and waits for a standby that does not exist.
   * @returns the result of the commit
   */
  const commitUntilHeld = async (collection: Collection): Promise<{ ended: Promise<unknown> }> => {
    await ask(
      `create or replace function wait() returns trigger language plpgsql as
         'begin perform set_config(''synchronous_commit'', ''on'', true); return new; end';
       create trigger wait before insert on ${collection.sqlSchema}.documents_s1 for each row execute function wait()`,
    );
    await ask("alter system set synchronous_standby_names = 'nobody'");
    await ask('select pg_reload_conf()');
    const ended = commit(store, collection).catch((error: unknown) => error);
    const isHeld = async () => (await ask("select from pg_stat_activity where wait_event = 'SyncRep'")).length > 0;
    while (!(await isHeld()));
    return { ended };
  };
  const releaseAll = async () => {
    await ask('alter system reset synchronous_standby_names');
    await ask('select pg_reload_conf()');
  };

  /** As a waiting client does: repeatedly while a server is unreachable. */
  const committed = async (collection: Collection): Promise<unknown> => {
    try {
      return await commit(store, collection);
    } catch (error) {
      if (!(error instanceof AkinError) || error.code !== 'unavailable') throw error;
      return committed(collection);
    }
  };

  it('leave no duplicates: the main one, between the end there and here', async () => {
    let collection = await createCollection(store, 'killed', { shards: 2, shardServers: ['main', 'b'] });
    await accept(store, collection, shelf(30));
    await commit(store, collection);
    await accept(store, collection, [...shelf(10), ...shelf(10, 100), { kind: 'delete', id: 'document 20' }]);
    const { ended } = await commitUntilHeld(collection);
    await main.kill();
    expect(await ended).toMatchObject({ code: 'unavailable' });
    await main.start();
    await closed();
    store = await open();
    collection = await findCollection(store, 'killed');
    // It has not ended there: later transactions wait.
    await expect(commit(store, collection)).rejects.toMatchObject({ code: 'unavailable' });
    const own = `select count(*)::int as n from ${collection.sqlSchema}.documents_s1 where valid_from = 2`;
    expect(await ask(own)).toEqual([{ n: 0 }]);
    await releaseAll();
    // Changes that the main server does not know are there.
    while ((await ask(own))[0].n === 0);
    await committed(collection);
    expect(await visible(store, collection)).toHaveLength(39);
    expect(await collectionStatus(store, collection)).toMatchObject({
      documents: 39,
      commit: 2,
      pending: 0,
      failed: 0,
    });
    const twice = `select id from ${collection.sqlSchema}.documents where valid_to > 2 group by id having count(*) > 1`;
    expect(await store.engine.query(twice)).toEqual([]);
  });

  it('are named in errors of searches and commits; changes are accepted, and other collections continue', async () => {
    const collection = await createCollection(store, 'down', { shards: 2, shardServers: ['main', 'b'] });
    const own = await createCollection(store, 'own');
    for (const one of [collection, own]) {
      await accept(store, one, [...shelf(10), { id: 'document 1', n: 1 }]);
      await commit(store, one);
    }
    await other.kill();
    const message = expect.stringMatching(/shard server b|server of shard 1/);
    await expect(visible(store, collection)).rejects.toMatchObject({ code: 'unavailable', message });
    await expect(visible(store, collection)).rejects.toMatchObject({
      message: expect.stringContaining('shard server b'),
    });
    const changes = [...shelf(5, 50), { kind: 'delete', id: 'document 3' }, { id: 'document 1', n: { set: 2 } }];
    // Requests that wait for analyses get a response, too.
    expect(await waitForOperations(store, collection, await accept(store, collection, changes))).toEqual([]);
    await expect(commit(store, collection)).rejects.toMatchObject({ code: 'unavailable', message });
    await accept(store, own, shelf(5, 50));
    await commit(store, own);
    expect(await visible(store, own)).toHaveLength(15);
    await other.start();
    await committed(collection);
    expect(await visible(store, collection)).toHaveLength(14);
    // In the middle of a commit.
    await accept(store, collection, shelf(3_000, 1_000));
    const { ended } = await commitUntilHeld(collection);
    await other.kill();
    expect(await ended).toMatchObject({ code: 'unavailable' });
    await other.start();
    await releaseAll();
    await committed(collection);
    expect(await visible(store, collection)).toHaveLength(3_014);
    expect(await collectionStatus(store, collection)).toMatchObject({ documents: 3_014, failed: 0 });
  });
});
