import { parseQuery } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, ENGINES } from '../../test/support.ts';
import { commit } from '../changes/commit/commit.ts';
import { wordsOf } from '../changes/commit/vocabulary.ts';
import type { Store } from '../changes/context.ts';
import { createCollection } from '../database/collections/collections.ts';
import type { Collection } from '../database/context.ts';
import { search } from './search.ts';

describe.each(ENGINES)('patterns over words on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  let store: Store;
  let collection: Collection;

  sharedStore(kind, async (opened) => {
    store = opened;
    collection = await createCollection(store, 'shop');
    await accept(store, collection, [
      { id: 'a', title: 'red running shoe' },
      { id: 'b', title: "Snowshoe of Ada's café" },
      { id: 'c', title: 'shovel' },
    ]);
    await commit(store, collection);
  });

  const find = async (q: string) => {
    const sort = [{ name: 'id', direction: 'asc' }] as const;
    const result = await search(store, collection, { query: parseQuery(q), sort, rows: 10 });
    return result.hits.map(({ id }) => id).join('');
  };
  const PATTERNS: [string, string][] = [
    ['*shoe', 'ab'],
    ['sh*e*', 'ac'],
    ['Sho?', 'a'],
    ['shoo~1', 'a'],
    ['*CAFÉ', 'b'],
    ["*a's", 'b'],
    ['text:[red TO shoe]', 'a'],
    ['nothing*x', ''],
    ['-*shoe', 'c'],
    ['*shoe AND r*d', 'a'],
  ];

  itOnPostgres.each(PATTERNS)('%s finds %s', async (q, expected) => {
    expect(await find(q)).toBe(expected);
  });

  it('are found by the index on words, and alike without it when too many words match', async () => {
    // More words than are looked up, none of which a document has.
    await store.engine.query(
      `insert into ${collection.sqlSchema}.words select 'x' || n || 'shoe' from generate_series(1, 2000) n`,
    );
    for (const [q, expected] of PATTERNS) expect([q, await find(q)]).toEqual([q, expected]);
  });

  itOnPostgres('name the parameter that they came in when they are wrong', async () => {
    const refused = (request: object) => search(store, collection, { query: parseQuery('*:*'), rows: 0, ...request });
    const wrong = [
      ['title_:a*b', 'no document has a field "title_"'],
      [`text:${'x'.repeat(41)}~`, 'at most 40 characters'],
    ] as const;
    for (const [text, problem] of wrong) {
      const query = parseQuery(text);
      await expect(refused({ query })).rejects.toThrow(`Parameter q: The query is wrong at character`);
      await expect(refused({ filters: [query] })).rejects.toThrow(problem);
      await expect(refused({ filters: [query] })).rejects.toThrow('Parameter fq: ');
      await expect(refused({ facets: [{ kind: 'query', query, excludedQueries: new Set() }] })).rejects.toThrow(
        'Parameter facet.query: ',
      );
    }
  });

  it('know the words of every commit, also those of other processes', async () => {
    await accept(store, collection, [{ id: 'd', title: 'horseshoe' }]);
    expect(await find('*shoe')).toBe('ab');
    await commit(store, collection);
    expect(await find('*shoe')).toBe('abd');
    wordsOf(store).clear();
    await accept(store, collection, [
      { id: 'e', title: 'horseshoe' },
      { kind: 'delete', id: 'd' },
    ]);
    await commit(store, collection);
    expect(await find('*shoe')).toBe('abe');
    const words = await store.engine.query(`select word from ${collection.sqlSchema}.words where word = 'horseshoe'`);
    expect(words).toHaveLength(1);
  });
});
