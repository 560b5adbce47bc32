import { parseQuery } from '@akin/domain';
import { onPostgres } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { groupsOn, hued, picture, RULE } from '../../../test/groups.ts';
import { accept, ENGINES, openTestStore, testLocation } from '../../../test/support.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { createCollection } from '../../database/collections/collections.ts';
import { listGroups } from './list-groups.ts';
import type { GroupRule } from './rule.ts';
import { updateGroups } from './update-groups.ts';

describe.each(ENGINES)('the rule of groups on %s', (kind) => {
  const itOnPostgres = onPostgres(kind, it);
  const on = groupsOn(kind);
  const { add, collectionOf, groups, update } = on;

  it('rebuilds all groups after a change of the rule', async () => {
    const collection = await collectionOf(picture('a', 0), picture('b', 0.05), picture('c', 0.15));
    await update(collection);
    await update(collection, { ...RULE, name: 'test 2', maxDistance: 0.2 });
    expect(await groups(collection)).toEqual([['a', 'b', 'c']]);
  });

  itOnPostgres('continue in a collection of another model, with the scores of that model', async () => {
    const other = await testLocation(kind);
    // Scores are 1 - distance / width.
    const open = (model: string, width: number) => {
      const calibration = [
        [0, 1],
        [width, 0],
      ] as const;
      const own = { models: new Map([['shape', model]]), calibrations: new Map([['shape', calibration]]) };
      return openTestStore(other.location, 0, own);
    };
    const change = async (at: Store, ...changes: object[]) => {
      await accept(at, collection, changes);
      await commit(at, collection);
    };
    const grouped = async (at: Store, rule: GroupRule) => {
      expect(await updateGroups(at, collection, rule, { milliseconds: 60_000 })).toBe(true);
      const page = await listGroups(at, collection, { rows: 10, members: 10 });
      expect([page.asOfCommit, page.numFoundExact]).toEqual([page.commit, true]);
      return page.groups.map(({ members }) => members.map(({ id }) => id));
    };
    const theirs: GroupRule = { ...RULE, name: 'theirs', maxDistance: 0.05 };
    const today: GroupRule = {
      ...RULE,
      name: 'today',
      sameScore: (_, distance, calibration) => (distance * (calibration.at(-1)?.[0] as number)) / 2,
    };

    let at = await open('a-1', 1);
    const collection = await createCollection(at, 'earlier');
    try {
      const star = [picture('a', 0), picture('b', 0.04), picture('c', -0.04), picture('d', -0.03)];
      await change(at, ...star, picture('y', 1), picture('z', 1));
      expect(await grouped(at, theirs)).toEqual([
        ['a', 'd', 'b', 'c'],
        ['y', 'z'],
      ]);
      await change(at, picture('z2', 1.01));
      await at[Symbol.asyncDispose]();

      at = await open('b-1', 2);
      await change(at, { kind: 'delete', id: 'a' }, { id: 'no picture' });
      const rehomed = [
        ['c', 'd'],
        ['y', 'z', 'z2'],
      ];
      expect(await grouped(at, today)).toEqual(rehomed);
      await change(at, { kind: 'delete', id: 'no picture' });
      expect(await grouped(at, today)).toEqual(rehomed);
      await at[Symbol.asyncDispose]();

      // A process that has the model continues, and finds the representatives that were added since.
      at = await open('a-1', 1);
      await change(at, picture('e', 0.045));
      expect(await grouped(at, theirs)).toEqual([['b', 'e'], ...rehomed]);
    } finally {
      await at[Symbol.asyncDispose]();
      await other.remove();
    }
  });

  it('uses a second module if the rule says so, whatever the chunks', async () => {
    // By shape alone all are copies of the first; by hue only some are.
    const like = (id: string, angle: number, hue: number | null) =>
      hued(id, [Math.cos(angle), Math.sin(angle), 0, 0], hue);
    const rule = { ...RULE, name: 'hue', secondModule: { module: 'hue', maxDistance: 0.5, skipWithin: 0.03 } };
    const documents = [
      like('a', 0, 0),
      like('b like a', 0.05, 0.2),
      like('c other hue', 0.06, 1.5),
      like('d nearly the same', 0.02, 1.5),
      like('e no hue', 0.09, null),
      like('f like c', 0.07, 1.4),
    ];
    const check = async (rule: GroupRule, expected: string[][]) => {
      const together = await collectionOf(...documents);
      await update(together, rule);
      expect(await groups(together)).toEqual(expected);
      const apart = await collectionOf();
      for (const document of documents) {
        await add(apart, document);
        await update(apart, rule);
      }
      expect(await groups(apart)).toEqual(expected);
    };
    await check(rule, [
      ['a', 'd nearly the same', 'b like a'],
      ['c other hue', 'f like c', 'e no hue'],
    ]);
    const isUp = ([, y = 0]: Float32Array) => y > 0.99;
    const isNear = (a: Float32Array, b: Float32Array) => isUp(a) || isUp(b);
    await check({ ...rule, name: 'up', secondModule: { ...rule.secondModule, isNear } }, [
      ['a', 'd nearly the same', 'b like a', 'c other hue', 'e no hue'],
    ]);
  });

  itOnPostgres('leaves out the exceptions of the rule', async () => {
    const collection = await collectionOf(
      picture('a', 0, { note: 'blank' }),
      picture('b', 0, { note: 'blank' }),
      picture('c', 0, { note: 'drawn' }),
      picture('d', 0),
    );
    await update(collection, { ...RULE, exclude: parseQuery('note:blank', {}) });
    expect(await groups(collection)).toEqual([['c', 'd']]);
  });
});
