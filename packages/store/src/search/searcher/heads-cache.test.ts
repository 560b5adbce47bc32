import type { Heads, HeadsQuery } from '@akin/searcher';
import { expect, it } from '@jest/globals';
import { HeadsCache, headsKey } from './heads-cache.ts';

const heads: Heads = { matches: 3, docs: Float64Array.of(1, 2), places: [Uint32Array.of(0, 1)] };
const BYTES = 2 * 8 + 2 * 4;
const query = (commit: number, values = 2): HeadsQuery => ({
  commit,
  filters: [4],
  distinct: { column: 1, missing: 'each' },
  deciding: 1,
  keys: [{ column: 2, places: new Uint32Array(values + 1), isDescending: false }],
});

it('asks once for each commit, and for each number of values, and forgets what was used least recently', async () => {
  const asked: number[] = [];
  const cache = new HeadsCache(
    async ({ commit }) => {
      asked.push(commit);
      return commit === 99 ? undefined : heads;
    },
    () => BYTES,
  );
  const find = (one: HeadsQuery) => cache.find(one, headsKey(one));
  for (const commit of [1, 2, 1, 99, 99]) expect(await find(query(commit))).toBe(commit === 99 ? undefined : heads);
  await find(query(1, 3));
  await cache.find(query(2), undefined);
  expect(asked).toEqual([1, 2, 99, 99, 1, 2]);
  expect(cache.bytes).toBe(3 * BYTES);
  for (let commit = 3; commit <= 32; commit++) await find(query(commit));
  expect(cache.bytes).toBe(32 * BYTES);
  await find(query(1));
  await find(query(2));
  expect(asked.slice(6)).toEqual([...Array.from({ length: 30 }, (_, i) => 3 + i), 2]);
  cache.clear();
  expect(cache.bytes).toBe(0);
});

it('keeps nothing for which there is no memory', async () => {
  const cache = new HeadsCache(
    async () => heads,
    () => BYTES - 1,
  );
  expect(await cache.find(query(1), headsKey(query(1)))).toBe(heads);
  expect(cache.bytes).toBe(0);
});
