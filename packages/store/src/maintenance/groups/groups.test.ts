import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { groupsOn, picture, RULE } from '../../../test/groups.ts';
import { maintain } from '../../../test/maintain.ts';
import { ENGINES } from '../../../test/support.ts';
import { pinCommit } from '../../database/collections/pins.ts';
import { groupChunk } from './group-chunk.ts';
import { listGroups } from './list-groups.ts';
import { RepresentativesInMemory } from './representatives-in-memory.ts';
import { readState } from './state.ts';
import { readUnassigned } from './unassigned.ts';
import { updateGroups } from './update-groups.ts';

describe.each(ENGINES)('groups on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  const on = groupsOn(kind);
  const { add, collectionOf, groups, update } = on;

  itOnPostgres('groups documents near their representative, and forms no chains', async () => {
    // Each is near the next one, but the third is not near the first.
    const collection = await collectionOf(
      picture('a', 0),
      picture('b', 0.08),
      picture('c', 0.16),
      picture('d', 0.24),
      picture('alone', 1),
      { id: 'no picture' },
    );
    expect(await update(collection)).toBe(true);
    const page = await listGroups(on.store, collection, { rows: 10, members: 10 });
    expect(page).toMatchObject({ commit: 1, asOfCommit: 1, numFound: 2, numFoundExact: true, next: undefined });
    expect(page.groups.map(({ id, size }) => [id, size])).toEqual([
      ['a', 2],
      ['c', 2],
    ]);
    expect(await groups(collection)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    const [, follower] = page.groups[0]?.members ?? [];
    expect(follower?.distance).toBeCloseTo(2 * Math.sin(0.04), 3);
    expect(follower?.document.get('id')).toBe('b');
  });

  itOnPostgres('puts a document into the group of the nearest representative, whatever the chunks', async () => {
    const collection = await collectionOf(
      picture('far', 0.14),
      picture('near', 0),
      picture('x', 0.05),
      picture('y', 0.09),
    );
    await update(collection);
    expect(await groups(collection)).toEqual([
      ['far', 'y'],
      ['near', 'x'],
    ]);
    const apart = await collectionOf(picture('far', 0.14));
    await update(apart);
    for (const one of [picture('near', 0), picture('x', 0.05), picture('y', 0.09)]) {
      await add(apart, one);
      await update(apart);
    }
    expect(await groups(apart)).toEqual(await groups(collection));
  });

  it('follows deletes and replacements, and says for which commit it is current', async () => {
    const collection = await collectionOf(picture('a', 0), picture('b', 0.05), picture('c', -0.05), picture('z', 2));
    await update(collection);
    expect(await groups(collection)).toEqual([['a', 'b', 'c']]);

    await add(collection, { kind: 'delete', id: 'c' }, picture('z2', 2));
    // Removed documents leave at once. New ones are in no group yet, and the result says so.
    const before = await listGroups(on.store, collection, { rows: 10, members: 10 });
    expect(before).toMatchObject({ commit: 2, asOfCommit: 1, numFoundExact: false });
    expect(before.groups.map(({ size, members }) => [size, members.map(({ id }) => id)])).toEqual([[2, ['a', 'b']]]);
    await update(collection);
    expect(await groups(collection)).toEqual([
      ['a', 'b'],
      ['z', 'z2'],
    ]);

    // A group of one is not listed.
    await add(collection, { kind: 'delete', id: 'b' }, picture('z', -2));
    await update(collection);
    expect(await groups(collection)).toEqual([]);
    expect((await listGroups(on.store, collection, { rows: 10, members: 10 })).numFound).toBe(0);
  });

  itOnPostgres('groups the followers again when their representative leaves', async () => {
    const collection = await collectionOf(
      picture('a', 0),
      picture('b', 0.09),
      picture('c', -0.09),
      picture('d', -0.08),
    );
    await update(collection);
    expect(await groups(collection)).toEqual([['a', 'd', 'b', 'c']]);
    await add(collection, { kind: 'delete', id: 'a' });
    // Rows may be removed before the groups are updated to the commit.
    await maintain(on.store);
    expect(await groups(collection)).toEqual([]);
    await update(collection);
    expect(await groups(collection)).toEqual([['c', 'd']]);
  });

  itOnPostgres('are updated in turns of any length while replaced documents are kept', async () => {
    const collection = await collectionOf(...[0, 1, 2, 3].map((i) => picture(`p${i}`, i)));
    await update(collection);
    await pinCommit(on.store, collection);
    await add(collection, ...[0, 1, 2].map((i) => picture(`p${i}`, 3 + 0.02 * i)), { kind: 'delete', id: 'unknown' });
    await maintain(on.store);
    let turns = 0;
    while (turns < 20 && !(await updateGroups(on.store, collection, RULE, { milliseconds: 0 }))) turns++;
    expect(turns).toBeLessThan(20);
    expect(await groups(collection)).toEqual([['p3', 'p0', 'p1', 'p2']]);
  });

  itOnPostgres('keeps the id of a group whose representative is replaced by the same picture', async () => {
    const collection = await collectionOf(picture('m', 0), picture('a', 0.09), picture('z', -0.09));
    await update(collection);
    await add(collection, picture('m', 0, { title: 'new words' }));
    await update(collection);
    const page = await listGroups(on.store, collection, { rows: 10, members: 10 });
    expect(page.groups.map(({ id, size }) => [id, size])).toEqual([['m', 3]]);
    expect(page.groups[0]?.members[0]?.document.get('title')).toBe('new words');
  });

  it('continues after an interruption, and two processes get the same result as one', async () => {
    const documents = Array.from({ length: 60 }, (_, i) => picture(`p${String(i).padStart(2, '0')}`, i * 0.04));
    const whole = await collectionOf(...documents);
    await update(whole);
    const expected = await groups(whole);
    expect(expected.length).toBeGreaterThan(10);

    const cut = await collectionOf(...documents);
    let turns = 0;
    while (!(await updateGroups(on.store, cut, RULE, { milliseconds: 0 }))) turns++;
    expect(turns).toBeGreaterThan(1);
    expect(await groups(cut)).toEqual(expected);

    const both = await collectionOf(...documents);
    await Promise.all([update(both), update(both), update(both)]);
    expect(await groups(both)).toEqual(expected);
  });

  itOnPostgres('counts a document once that two processes group, after its representative left', async () => {
    const collection = await collectionOf(
      picture('a', 0),
      picture('b', 0.09),
      picture('c', -0.09),
      picture('d', -0.08),
    );
    await update(collection);
    await add(collection, { kind: 'delete', id: 'a' });
    const { sqlSchema: S } = collection;
    // Up to the point where followers of removed representatives search for another group.
    await maintain(on.store);
    const docs = (
      await on.store.engine.query<{ doc: bigint }>(
        `select f.doc from ${S}.representatives r join ${S}.followers f on f.representative = r.doc
          where r.removed order by 1`,
      )
    ).map(({ doc }) => doc);
    expect(docs).toHaveLength(3);
    const state = await readState(on.store.engine, collection);
    const grouping = { store: on.store, collection, rule: RULE };
    const inMemory = new RepresentativesInMemory(grouping);
    const unassigned = await readUnassigned(grouping, docs);
    const chunk = { docs, unassigned, state, upTo: state.last_doc, waiting: docs.length, inMemory };
    for (let i = 0; i < 2; i++) {
      const grouped = await groupChunk(grouping, chunk);
      expect(grouped?.state).toEqual({ ...state, version: expect.any(String) });
    }
    await update(collection);
    expect(await groups(collection)).toEqual([['c', 'd']]);
    expect((await listGroups(on.store, collection, { rows: 10, members: 10 })).groups.map(({ size }) => size)).toEqual([
      2,
    ]);
  });
});
