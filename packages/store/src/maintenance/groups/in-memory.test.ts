import { createRandom } from '@akin/domain/random';
import { inFull, scaledByChaos } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { groupsOn, hued, picture, RULE } from '../../../test/groups.ts';
import { maintain } from '../../../test/maintain.ts';
import { ENGINES } from '../../../test/support.ts';
import type { Store } from '../../changes/context.ts';
import type { Collection } from '../../database/context.ts';
import { InMemorySearch } from '../../search/searcher/in-memory-search.ts';
import { decideGroups } from './decisions.ts';
import type { GroupRule } from './rule.ts';
import { updateGroups } from './update-groups.ts';

const random = createRandom(5);
const whole = (below: number) => Math.floor(random() * below);
const direction = () => Array.from({ length: 4 }, () => random() - 0.5);
const unit = (numbers: readonly number[]) => numbers.map((number) => number / Math.hypot(...numbers));

/** The pictures are around these points. */
const CENTERS = Array.from({ length: 8 }, direction);
const CENTROIDS = Array.from({ length: 30 }, () => unit(direction()));

/** Cells so small that near pairs are sometimes in different ones. Both ways must miss the same pairs. */
const BY_CELLS: GroupRule = {
  ...RULE,
  name: 'cells',
  secondModule: { module: 'hue', maxDistance: 0.8, skipWithin: 0.03 },
  cellsOf: (vector) => {
    const to = CENTROIDS.map((centroid) => Math.hypot(...centroid.map((n, i) => n - (vector[i] as number))));
    return [...to.keys()].sort((a, b) => (to[a] as number) - (to[b] as number)).slice(0, 3);
  },
};

const anyPicture = (id: string) => {
  const center = unit(CENTERS[whole(CENTERS.length)] as number[]);
  return hued(id, unit(center.map((number) => number + 0.2 * (random() - 0.5))), random() < 0.2 ? null : whole(3));
};

// 20 documents are compared exactly, 40 and more by codes.
const KINDS = ENGINES.flatMap((kind) => [
  [kind, 20, scaledByChaos(10)] as const,
  ...inFull([kind, 20_000, 3] as const),
]);

describe.each(KINDS)(
  'groups with the searcher and without on %s, %i compared exactly',
  (kind, exactDocuments, rounds) => {
    const on = groupsOn(kind, exactDocuments);

    it('are the same, whatever changes', async () => {
      await using none = new InMemorySearch({ exactRows: exactDocuments, memory: 0 });
      const inMemory = on.store;
      const inDatabase: Store = { ...on.store, inMemory: none };
      const sides = [
        { store: inMemory, collection: await on.collectionOf() },
        { store: inDatabase, collection: await on.collectionOf() },
      ];
      const counts = { memory: 0, database: 0 };
      const turn = (store: Store, collection: Collection, milliseconds = 60_000) =>
        updateGroups(store, collection, BY_CELLS, {
          milliseconds,
          onGrouped: (documents, isInMemory) => {
            if (store === inMemory) counts[isInMemory ? 'memory' : 'database'] += documents;
            else expect(isInMemory).toBe(false);
          },
        });
      let made = 0;
      for (let round = 0; round < rounds; round++) {
        const fresh = Array.from({ length: 10 + whole(80) }, () => anyPicture(`d${made++}`));
        const replaced = Array.from({ length: whole(20) }, () => anyPicture(`d${whole(made)}`));
        const gone = Array.from({ length: whole(20) }, () => ({ kind: 'delete', id: `d${whole(made)}` }));
        const two = [fresh[0]?.id, fresh[1]?.id] as string[];
        const [isCut, isDecided, isForeign, isLost] = [0.4, 0.3, 0.3, 0.1].map((share) => random() < share);
        const again = Array.from({ length: 10 }, () => anyPicture(`d${whole(made)}`));
        for (const { store, collection } of sides) {
          await on.add(collection, ...fresh, ...replaced);
          await on.add(collection, ...gone);
          // A run that ends early leaves documents that the next commit replaces, and that are never read.
          if (isCut) await turn(store, collection, 0);
          if (isLost) await inMemory.inMemory.unloadCollection(collection.id);
          await on.add(collection, ...again, ...fresh.slice(0, 2));
          // Another process continues for a while.
          if (isForeign) await turn(inDatabase, collection, 0);
          if (isDecided) await decideGroups(store, collection, two, 'different');
          await turn(store, collection);
          if (round % 3 === 2) await maintain(store);
        }
        const [first, second] = await Promise.all(sides.map(({ collection }) => on.groups(collection)));
        expect(first?.length).toBeGreaterThan(0);
        expect(first).toEqual(second);
      }
      expect(counts.memory).toBeGreaterThan(counts.database);
    });
  },
);

describe.each(ENGINES)('the searcher for groups on %s', (kind) => {
  const on = groupsOn(kind, 20);
  const { add, collectionOf, groups, update } = on;

  it('is not used if few documents wait in a large collection that is not in memory', async () => {
    const ways: boolean[] = [];
    const turn = (collection: Collection) =>
      updateGroups(on.store, collection, RULE, { milliseconds: 60_000, onGrouped: (_, way) => ways.push(way) });
    const collection = await on.collectionOf(anyPicture('first'));
    await turn(collection);
    expect(ways).toEqual([true]);
    await on.store.engine.query(`update ${collection.sqlSchema}.descriptor_counts set documents = 1000000`);
    await on.add(collection, anyPicture('second'));
    await turn(collection);
    // Data in memory is used however much waits.
    expect(ways).toEqual([true, true]);
    await on.store.inMemory.unloadCollection(collection.id);
    await on.add(collection, anyPicture('third'));
    await turn(collection);
    expect(ways).toEqual([true, true, false]);
  });

  it('lacks representatives whose documents were replaced before it was read, and the database finds them', async () => {
    const others = Array.from({ length: 60 }, (_, i) => picture(`o${i}`, 2));
    const collection = await collectionOf(picture('a', 0));
    await update(collection);
    await add(collection, ...others, picture('x', 0.05));
    // The first step ends before it reaches x.
    expect(await updateGroups(on.store, collection, RULE, { milliseconds: 0 })).toBe(false);
    await on.store.inMemory.unloadCollection(collection.id);
    await add(collection, picture('a', 0));
    const ways = new Set<boolean>();
    const onGrouped = (_: number, way: boolean) => ways.add(way);
    await updateGroups(on.store, collection, RULE, { milliseconds: 60_000, onGrouped });
    expect([...ways]).toEqual([true]);
    // Otherwise a would follow x.
    expect((await groups(collection))[0]).toEqual(['a', 'x']);
  });

  it('is not used if cells would need the memory of searches', async () => {
    const collection = await on.collectionOf(anyPicture('first'));
    const needed = { module: RULE.module, documents: 1_000_000, dimensions: 4 };
    const { engine } = on.store;
    await engine.query(`update ${collection.sqlSchema}.descriptor_counts set documents = ${needed.documents}`);
    // About the smallest memory for the descriptors; their cells need 16 MB.
    let [tooSmall, memory] = [0, 1_000_000_000];
    while (memory - tooSmall > 8_000_000) {
      const middle = (tooSmall + memory) / 2;
      await using tried = new InMemorySearch({ exactRows: 20, memory: middle });
      if (await tried.read({ engine }, collection, needed)) memory = middle;
      else tooSmall = middle;
    }
    await using inMemory = new InMemorySearch({ exactRows: 20, memory });
    expect(await inMemory.read({ engine }, collection, needed)).toBe(true);
    const ways: boolean[] = [];
    const store = { ...on.store, inMemory };
    await updateGroups(store, collection, RULE, { milliseconds: 60_000, onGrouped: (_, way) => ways.push(way) });
    expect(ways).toEqual([false]);
    expect(inMemory.use.collections).toBe(1);
  });
});
