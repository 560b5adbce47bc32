import { type ModuleManifest, parseQuery } from '@akin/domain';
import { describe, expect, it } from '@jest/globals';
import { sharedStore } from '../../test/shared-store.ts';
import { accept, ENGINES, parseTestOutputs, TEST_MODULES, testOutputs, testPlace } from '../../test/support.ts';
import { maintain } from '../bulk/maintain.ts';
import { createCollection } from '../collections/collections.ts';
import { commit } from '../commit/commit.ts';
import type { Collection, ParsedOutputs, Store } from '../context.ts';
import { openStore } from '../store.ts';
import { decideGroups, listDecisions } from './decisions.ts';
import { groupChunk } from './group-chunk.ts';
import { listGroups } from './list-groups.ts';
import type { GroupRule } from './rule.ts';
import { readState } from './state.ts';
import { updateGroups } from './update-groups.ts';

/** Pictures are angles on a circle; members may be 0.1 away from their representative. All cells are asked. */
const RULE: GroupRule = {
  name: 'test 1',
  module: 'shape',
  maxDistance: 0.1,
  cellsOf: (vector) => [...vector.keys()].sort((a, b) => (vector[b] as number) - (vector[a] as number)),
};

/** A second module, whose descriptors are points on a circle. */
const HUE: ModuleManifest = {
  name: 'hue',
  outputs: [{ name: 'hue_descriptor', type: 'string', returnedByDefault: false }],
  descriptor: { output: 'hue_descriptor', cell: 'hue_cell', dimensions: 2 },
};

function parseOutputs(json: string): ParsedOutputs {
  const { fields, descriptors } = parseTestOutputs(json);
  const { hue } = JSON.parse(json);
  if (hue === undefined) return { fields, descriptors };
  return { fields, descriptors: new Map([...descriptors, ['hue', { vector: Float32Array.from(hue), cell: 0 }]]) };
}

const picture = (id: string, angle: number, more: object = {}) => ({
  id,
  import: testOutputs({ shape: [Math.cos(angle), Math.sin(angle), 0, 0] }),
  ...more,
});

describe.each(ENGINES)('groups on %s', (kind) => {
  let store: Store;
  let made = 0;

  sharedStore(
    kind,
    (opened) => {
      store = opened;
    },
    (place) => openStore({ ...place, modules: [...TEST_MODULES, HUE], parseOutputs, graceMilliseconds: 0 }),
  );

  async function collectionOf(...documents: object[]): Promise<Collection> {
    const collection = await createCollection(store, `groups-${made++}`);
    await add(collection, ...documents);
    return collection;
  }

  async function add(collection: Collection, ...changes: object[]): Promise<void> {
    await accept(store, collection, changes);
    await commit(store, collection);
  }

  const update = (collection: Collection, rule = RULE) =>
    updateGroups(store, collection, rule, { milliseconds: 60_000 });

  /** Groups as lists of ids, the representative first. */
  async function groups(collection: Collection, request: object = {}): Promise<string[][]> {
    const page = await listGroups(store, collection, { rows: 100, members: 100, ...request });
    return page.groups.map(({ members }) => members.map(({ id }) => id));
  }

  it('holds together what is near its representative, and chains nothing', async () => {
    // Each is near the next one, but the third not near the first.
    const collection = await collectionOf(
      picture('a', 0),
      picture('b', 0.08),
      picture('c', 0.16),
      picture('d', 0.24),
      picture('alone', 1),
      { id: 'no picture' },
    );
    expect(await update(collection)).toBe(true);
    const page = await listGroups(store, collection, { rows: 10, members: 10 });
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

  it('gives a document to the nearest representative, whatever the chunks', async () => {
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

  it('follows deletes and replacements, and says which commit it stands for', async () => {
    const collection = await collectionOf(picture('a', 0), picture('b', 0.05), picture('c', -0.05), picture('z', 2));
    await update(collection);
    expect(await groups(collection)).toEqual([['a', 'b', 'c']]);

    await add(collection, { kind: 'delete', id: 'c' }, picture('z2', 2));
    // What left is gone at once; what came is in no group yet, and the answer says so.
    const before = await listGroups(store, collection, { rows: 10, members: 10 });
    expect(before).toMatchObject({ commit: 2, asOfCommit: 1, numFoundExact: false });
    expect(before.groups.map(({ size, members }) => [size, members.map(({ id }) => id)])).toEqual([[2, ['a', 'b']]]);
    await update(collection);
    expect(await groups(collection)).toEqual([
      ['a', 'b'],
      ['z', 'z2'],
    ]);

    // A group of one is none.
    await add(collection, { kind: 'delete', id: 'b' }, picture('z', -2));
    await update(collection);
    expect(await groups(collection)).toEqual([]);
    expect((await listGroups(store, collection, { rows: 10, members: 10 })).numFound).toBe(0);
  });

  it('groups the followers again when their representative leaves', async () => {
    const collection = await collectionOf(
      picture('a', 0),
      picture('b', 0.09),
      picture('c', -0.09),
      picture('d', -0.08),
    );
    await update(collection);
    expect(await groups(collection)).toEqual([['a', 'd', 'b', 'c']]);
    await add(collection, { kind: 'delete', id: 'a' });
    // Rows may be removed before the groups hear of the commit.
    await maintain(store);
    expect(await groups(collection)).toEqual([]);
    await update(collection);
    expect(await groups(collection)).toEqual([['c', 'd']]);
  });

  it('keeps the id of a group whose representative is replaced by the same picture', async () => {
    const collection = await collectionOf(picture('m', 0), picture('a', 0.09), picture('z', -0.09));
    await update(collection);
    await add(collection, picture('m', 0, { title: 'new words' }));
    await update(collection);
    const page = await listGroups(store, collection, { rows: 10, members: 10 });
    expect(page.groups.map(({ id, size }) => [id, size])).toEqual([['m', 3]]);
    expect(page.groups[0]?.members[0]?.document.get('title')).toBe('new words');
  });

  it('goes on where it was cut off, and two at work make what one makes', async () => {
    const documents = Array.from({ length: 60 }, (_, i) => picture(`p${String(i).padStart(2, '0')}`, i * 0.04));
    const whole = await collectionOf(...documents);
    await update(whole);
    const expected = await groups(whole);
    expect(expected.length).toBeGreaterThan(10);

    const cut = await collectionOf(...documents);
    let turns = 0;
    while (!(await updateGroups(store, cut, RULE, { milliseconds: 0 }))) turns++;
    expect(turns).toBeGreaterThan(1);
    expect(await groups(cut)).toEqual(expected);

    const both = await collectionOf(...documents);
    await Promise.all([update(both), update(both), update(both)]);
    expect(await groups(both)).toEqual(expected);
  });

  it('counts a document once that two find a group for, after its representative left', async () => {
    const collection = await collectionOf(
      picture('a', 0),
      picture('b', 0.09),
      picture('c', -0.09),
      picture('d', -0.08),
    );
    await update(collection);
    await add(collection, { kind: 'delete', id: 'a' });
    const { sqlSchema: S } = collection;
    // Up to where followers of those that left look for another group.
    await maintain(store);
    const docs = (
      await store.engine.query<{ doc: bigint }>(
        `select f.doc from ${S}.representatives r join ${S}.followers f on f.representative = r.doc where r.gone order by 1`,
      )
    ).map(({ doc }) => doc);
    expect(docs).toHaveLength(3);
    const state = await readState(store.engine, collection);
    for (let i = 0; i < 2; i++) {
      expect(await groupChunk(store, collection, RULE, docs, state, state)).toEqual(state);
    }
    await update(collection);
    expect(await groups(collection)).toEqual([['c', 'd']]);
    expect((await listGroups(store, collection, { rows: 10, members: 10 })).groups.map(({ size }) => size)).toEqual([
      2,
    ]);
  });

  it('makes all groups again by another rule', async () => {
    const collection = await collectionOf(picture('a', 0), picture('b', 0.05), picture('c', 0.15));
    await update(collection);
    await update(collection, { ...RULE, name: 'test 2', maxDistance: 0.2 });
    expect(await groups(collection)).toEqual([['a', 'b', 'c']]);
  });

  it('go on in a collection of another model, by the scores of that model', async () => {
    const other = await testPlace(kind);
    // Scores are 1 - distance / width.
    const open = (model: string, width: number) =>
      openStore({
        ...other.place,
        modules: TEST_MODULES,
        parseOutputs,
        graceMilliseconds: 0,
        models: new Map([['shape', model]]),
        calibrations: new Map([
          [
            'shape',
            [
              [0, 1],
              [width, 0],
            ],
          ],
        ]),
      });
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

      // A process that has the model goes on there, and finds what became a representative meanwhile.
      at = await open('a-1', 1);
      await change(at, picture('e', 0.045));
      expect(await grouped(at, theirs)).toEqual([['b', 'e'], ...rehomed]);
    } finally {
      await at[Symbol.asyncDispose]();
      await other.remove();
    }
  });

  it('asks a second module where the rule says so, whatever the chunks', async () => {
    // By shape alone all are copies of the first; by hue only some are.
    const hued = (id: string, angle: number, hue: number | null) => ({
      id,
      import: JSON.stringify({
        ...JSON.parse(testOutputs({ shape: [Math.cos(angle), Math.sin(angle), 0, 0] })),
        ...(hue === null ? {} : { hue: [Math.cos(hue), Math.sin(hue)] }),
      }),
    });
    const rule = { ...RULE, name: 'hue', also: { module: 'hue', maxDistance: 0.5, unless: 0.03 } };
    const documents = [
      hued('a', 0, 0),
      hued('b like a', 0.05, 0.2),
      hued('c other hue', 0.06, 1.5),
      hued('d nearly the same', 0.02, 1.5),
      hued('e no hue', 0.09, null),
      hued('f like c', 0.07, 1.4),
    ];
    const expected = [
      ['a', 'd nearly the same', 'b like a'],
      ['c other hue', 'f like c', 'e no hue'],
    ];
    const together = await collectionOf(...documents);
    await update(together, rule);
    expect(await groups(together)).toEqual(expected);
    const apart = await collectionOf();
    for (const document of documents) {
      await add(apart, document);
      await update(apart, rule);
    }
    expect(await groups(apart)).toEqual(expected);
  });

  it('keeps apart what people said is different, whatever comes and goes', async () => {
    const collection = await collectionOf(
      picture('a', 0),
      picture('b', 0.02),
      picture('c', 0.04),
      picture('d', 0.06),
      picture('z', 2),
    );
    await update(collection);
    expect(await groups(collection)).toEqual([['a', 'b', 'c', 'd']]);
    // Of two near one representative the farther leaves.
    await decideGroups(store, collection, ['c', 'b'], 'different');
    expect((await listGroups(store, collection, { rows: 10, members: 10 })).numFoundExact).toBe(false);
    await update(collection);
    expect(await groups(collection)).toEqual([['a', 'b', 'd']]);
    await decideGroups(store, collection, ['d', 'a'], 'different');
    await update(collection);
    expect(await groups(collection)).toEqual([
      ['a', 'b'],
      ['c', 'd'],
    ]);
    // One that is replaced looks again, and is nearer now than what it is different from.
    await add(collection, picture('c', 0.01));
    await update(collection);
    const grouped = [
      ['a', 'c'],
      ['b', 'd'],
    ];
    expect(await groups(collection)).toEqual(grouped);
    await update(collection, { ...RULE, name: 'test 2' });
    expect((await groups(collection)).every((ids) => !ids.join('').match(/b.*c|c.*b|a.*d|d.*a/))).toBe(true);
    expect((await listDecisions(store, collection, { limit: 1 })).decisions).toEqual([['a', 'd']]);
    expect((await listDecisions(store, collection, { limit: 9, after: ['a', 'd'] })).decisions).toEqual([['b', 'c']]);

    await decideGroups(store, collection, ['a', 'd'], null);
    await add(collection, { kind: 'delete', id: 'c' });
    await update(collection);
    // The decision on c ends with it.
    expect(await listDecisions(store, collection, { limit: 9 })).toEqual({ decisions: [], next: undefined });
    await add(collection, picture('c', 0.04));
    await update(collection);
    expect((await groups(collection)).flat().sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(await groups(collection)).toHaveLength(1);
    await expect(decideGroups(store, collection, ['a', 'nobody'], 'different')).rejects.toThrow('"nobody"');
  });

  it('leaves out what the rule excepts', async () => {
    const collection = await collectionOf(
      picture('a', 0, { note: 'blank' }),
      picture('b', 0, { note: 'blank' }),
      picture('c', 0, { note: 'drawn' }),
      picture('d', 0),
    );
    await update(collection, { ...RULE, except: parseQuery('note:blank', {}) });
    expect(await groups(collection)).toEqual([['c', 'd']]);
  });

  it('narrows by filters, to groups with two members that match', async () => {
    const collection = await collectionOf(
      picture('a', 0, { shop: 'x' }),
      picture('b', 0.01, { shop: 'y' }),
      picture('c', 0.02, { shop: 'y' }),
      picture('d', 1, { shop: 'x' }),
      picture('e', 1.01, { shop: 'y' }),
      picture('f', 2, { shop: 'x' }),
      picture('g', 2.01, { shop: 'x' }),
    );
    await update(collection);
    const by = (text: string) => ({ filters: [parseQuery(text, {})] });
    expect(await groups(collection, by('shop:y'))).toEqual([['b', 'c']]);
    expect(await groups(collection, by('shop:x'))).toEqual([['f', 'g']]);
    expect(await groups(collection, by('-id:b'))).toEqual([
      ['a', 'c'],
      ['d', 'e'],
      ['f', 'g'],
    ]);
    const page = await listGroups(store, collection, { rows: 1, members: 10, ...by('-id:b') });
    expect([page.numFound, page.next]).toEqual([3, 'a']);
    const last = await listGroups(store, collection, { rows: 10, members: 10, after: 'f', ...by('-id:b') });
    expect([last.numFound, last.groups, last.next]).toEqual([3, [], undefined]);
    await expect(groups(collection, by('nosuch:1'))).rejects.toThrow(/Parameter fq/);
  });

  it('is paged without repeats while groups come and go', async () => {
    const pairs = Array.from({ length: 9 }, (_, i) => [picture(`g${i}`, i), picture(`h${i}`, i + 0.01)]).flat();
    const collection = await collectionOf(...pairs);
    await update(collection);
    const seen: string[] = [];
    let after: string | undefined;
    for (;;) {
      const page = await listGroups(store, collection, { rows: 2, members: 1, after });
      seen.push(...page.groups.map(({ id }) => id));
      expect(page.groups.every(({ members, size }) => members.length === 1 && size === 2)).toBe(true);
      if (page.next === undefined) break;
      after = page.next;
      if (after === 'g3') {
        await add(
          collection,
          { kind: 'delete', id: 'g1' },
          { kind: 'delete', id: 'h6' },
          picture('g44', 20),
          picture('g45', 20),
        );
        await update(collection);
      }
    }
    expect(seen).toEqual(['g0', 'g1', 'g2', 'g3', 'g4', 'g44', 'g5', 'g7', 'g8']);
  });
});
