import { testDatabase } from '@akin/testing';
import { expect, it } from '@jest/globals';
import { TEST_STORE } from '../../test/support.ts';
import { createCollection } from '../collections/collections.ts';
import { openStore } from '../store.ts';
import { countCollectionsWithoutLeader, releaseLeases, renewLeases, takeLeases } from './leases.ts';

it('counts the collections without a leader: never led, released, or with an expired lease', async () => {
  const database = await testDatabase();
  const config = {
    databaseUrl: database.url,
    ...TEST_STORE,
  };
  const store = await openStore({ ...config, shared: true });
  // A new store already has one collection.
  const collections = [await createCollection(store, 'one'), await createCollection(store, 'two')];
  expect(await countCollectionsWithoutLeader(store)).toBe(3);
  for (const [i, collection] of collections.entries()) {
    await renewLeases(store, `holder ${i}`, 3_600_000);
    await takeLeases(store, [{ collection, hasModels: true }], `holder ${i}`, 3_600_000);
  }
  expect(await countCollectionsWithoutLeader(store)).toBe(1);
  await releaseLeases(store, 'holder 0');
  expect(await countCollectionsWithoutLeader(store)).toBe(2);
  for (const table of ['leases', 'lease_holders']) {
    await store.engine.query(`update akin.${table} set expires_at = now() - interval '1 second'`);
  }
  expect(await countCollectionsWithoutLeader(store)).toBe(3);
  await store[Symbol.asyncDispose]();
  const alone = await openStore(config);
  expect(await countCollectionsWithoutLeader(alone)).toBe(0);
  await alone[Symbol.asyncDispose]();
  await database.drop();
});
