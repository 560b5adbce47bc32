import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { groupsOn, picture, RULE } from '../../../test/groups.ts';
import { reindex, workOf } from '../../../test/reindexing.ts';
import { ENGINES } from '../../../test/support.ts';
import { decideGroups, listDecisions } from './decisions.ts';
import { listGroups } from './list-groups.ts';
import { updateGroups } from './update-groups.ts';

describe.each(ENGINES)('decisions on groups on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  const on = groupsOn(kind);
  const { add, collectionOf, groups, update } = on;

  itOnPostgres('keeps documents apart that people marked as different, whatever changes', async () => {
    const collection = await collectionOf(
      picture('a', 0),
      picture('b', 0.02),
      picture('c', 0.04),
      picture('d', 0.06),
      picture('z', 2),
    );
    await update(collection);
    expect(await groups(collection)).toEqual([['a', 'b', 'c', 'd']]);
    // Of two near one representative the farther one leaves.
    await decideGroups(on.store, collection, ['c', 'b'], 'different');
    expect((await listGroups(on.store, collection, { rows: 10, members: 10 })).numFoundExact).toBe(false);
    await update(collection);
    expect(await groups(collection)).toEqual([['a', 'b', 'd']]);
    await decideGroups(on.store, collection, ['d', 'a'], 'different');
    await update(collection);
    expect(await groups(collection)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    // A replaced document searches again, and is now nearer than the document that it is different from.
    await add(collection, picture('c', 0.01));
    await update(collection);
    const grouped = [
      ['a', 'c'],
      ['b', 'd'],
    ];
    expect(await groups(collection)).toEqual(grouped);
    await update(collection, { ...RULE, name: 'test 2' });
    expect((await groups(collection)).every((ids) => !ids.join('').match(/b.*c|c.*b|a.*d|d.*a/))).toBe(true);
    expect((await listDecisions(on.store, collection, { limit: 1 })).decisions).toEqual([['a', 'd']]);
    expect((await listDecisions(on.store, collection, { limit: 9, after: ['a', 'd'] })).decisions).toEqual([
      ['b', 'c'],
    ]);

    await decideGroups(on.store, collection, ['a', 'd'], null);
    await add(collection, { kind: 'delete', id: 'c' });
    await update(collection);
    // The decision on c is removed with c.
    expect(await listDecisions(on.store, collection, { limit: 9 })).toEqual({ decisions: [], next: undefined });
    await add(collection, picture('c', 0.04));
    await update(collection);
    expect((await groups(collection)).flat().sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(await groups(collection)).toHaveLength(1);
    await expect(decideGroups(on.store, collection, ['a', 'nobody'], 'different')).rejects.toThrow('"nobody"');
  });

  itOnPostgres('follows a decision that comes just before an update ends', async () => {
    const collection = await collectionOf(picture('a', 0), picture('b', 0.06), picture('c', 0.08));
    await update(collection);
    await add(collection, picture('z', 2));
    const { store } = on;
    let decided = false;
    const query: typeof store.engine.query = async (sql, ...rest) => {
      const rows = await store.engine.query(sql, ...rest);
      if (!decided && rows.length === 0 && sql.includes('.ungrouped order by')) {
        decided = true;
        await decideGroups(store, collection, ['a', 'c'], 'different');
      }
      return rows as never;
    };
    const watched = { ...store, engine: { ...store.engine, query } };
    expect(await updateGroups(watched, collection, RULE, { milliseconds: 60_000 })).toBe(true);
    expect(decided).toBe(true);
    expect(await groups(collection)).toEqual([['a', 'b']]);
    expect(await store.engine.query(`select from ${collection.sqlSchema}.ungrouped`)).toEqual([]);
  });

  it('copies decisions when the collection is reindexed, including later ones', async () => {
    const old = await collectionOf(picture('a', 0), picture('b', 0.02), picture('c', 0.04), picture('gone', 0.06));
    await update(old);
    await decideGroups(on.store, old, ['a', 'b', 'gone'], 'different');
    let round = 0;
    const work = workOf(on.store, async () => {
      if (round++ > 0) return;
      await decideGroups(on.store, old, ['b', 'c'], 'different');
      await add(old, { kind: 'delete', id: 'gone' });
    });
    const rebuilt = await reindex(on.store, old, work);
    expect(rebuilt.id).not.toBe(old.id);
    expect((await listDecisions(on.store, rebuilt, { limit: 9 })).decisions).toEqual([
      ['a', 'b'],
      ['b', 'c'],
    ]);
    await update(rebuilt);
    expect(await groups(rebuilt)).toEqual([['a', 'c']]);
  });
});
