import { parseQuery } from '@akin/domain';
import { openProxy, replicatedPostgres } from '@akin/testing';
import { expect, it } from '@jest/globals';
import { accept, openTestStore, testOutputs } from '../../../test/support.ts';
import { commit } from '../../changes/commit/commit.ts';
import { search } from '../../search/search.ts';
import { createCollection } from '../collections/collections.ts';

it('drops its caches when a lagging standby becomes the primary', async () => {
  await using servers = await replicatedPostgres();
  const { primary, standbys } = servers;
  const [standby] = standbys;
  if (standby === undefined) throw new Error('no standby');
  await using proxy = await openProxy(primary.url);
  await using store = await openTestStore({ databaseUrl: proxy.url });
  const collection = await createCollection(store, 'moved');
  const add = async (id: string, fields: object = {}) => {
    await accept(store, collection, [{ id, ...fields, import: testOutputs({ shape: [1, 0, 0, 0] }) }]);
    await commit(store, collection);
  };
  const find = async (query = '*:*') => {
    const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
    const {
      hits,
      commit: seen,
      ranking,
    } = await search(store, collection, {
      query: parseQuery(query),
      rows: 10,
      rank,
    });
    return [seen, ranking?.inMemory, hits.map(({ id }) => id).sort()];
  };
  await add('a');
  await standby.catchUp();
  await standby.kill();
  await add('lost', { early: 'yes' });
  expect(await find('early:yes')).toEqual([2, true, ['lost']]);
  await primary.kill();
  await standby.start();
  await standby.promote();
  proxy.redirect(standby.url);
  // The old connections are found to be broken.
  const answered = async (): Promise<unknown> =>
    find().catch((error) => (error.code === 'unavailable' ? answered() : Promise.reject(error)));
  expect(await answered()).toEqual([1, true, ['a']]);
  await add('b', { late: 'no' });
  // The same number as the lost commit, and the same column as the lost field.
  expect(await find()).toEqual([2, true, ['a', 'b']]);
  expect(await find('late:no')).toEqual([2, true, ['b']]);
  await expect(find('early:yes')).rejects.toMatchObject({ code: 'bad-request' });
});
