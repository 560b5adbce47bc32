import { AkinError, createRandom, parseQuery, type Query } from '@akin/domain';
import { scaledByChaos } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import { maintain } from '../../../test/maintain.ts';
import { sharedStore } from '../../../test/shared-store.ts';
import { accept, openTestStore, testOutputs } from '../../../test/support.ts';
import { commit } from '../../changes/commit/commit.ts';
import type { Store } from '../../changes/context.ts';
import { createCollection } from '../../database/collections/collections.ts';
import { search } from '../search.ts';
import { InMemorySearch } from './in-memory-search.ts';

const SEEDS = Array.from({ length: scaledByChaos(1) }, (_, seed) => seed);
const STEPS = 25;
const IDS = 150;
const SHADES = ['', 'red', 'Red', 'redder', "b'lue", 'ｚ', '🟢'];
const MARKS = [0, -0, 0.1, -1.5, 1e21, 5e-324];
const SIZES = [-3n, 0n, 1n, 2n, 3n, 2n ** 53n + 1n, 2n ** 63n - 1n];

interface Thing {
  readonly shade?: string;
  readonly size?: bigint;
  readonly mark?: number;
  readonly sold?: boolean;
  /** A field that the first documents do not have. */
  readonly late?: string;
}

/** A query, and which documents it should match. */
interface Asked {
  readonly text: string;
  readonly matches: (thing: Thing) => boolean;
}

const bytes = (text: string) => Buffer.from(text);
const quoted = (value: string | number | bigint) => `"${String(value)}"`;

class Chance {
  readonly #random: () => number;
  constructor(seed: number) {
    this.#random = createRandom(seed);
  }
  below(most: number): number {
    return Math.floor(this.#random() * most);
  }
  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
  is(share: number): boolean {
    return this.#random() < share;
  }
}

/** A range of the values of a field, in their order. */
function range<T extends string | number | bigint>(
  chance: Chance,
  name: string,
  values: readonly T[],
  read: (thing: Thing) => T | undefined,
  compare: (a: T, b: T) => number,
): Asked {
  const [low, high] = [0, 1].map(() => (chance.is(0.25) ? undefined : chance.one(values)));
  const [includesLow, includesHigh] = [chance.is(0.5), chance.is(0.5)];
  const bound = (value: T | undefined) => (value === undefined ? '*' : quoted(value));
  return {
    text: `${name}:${includesLow ? '[' : '{'}${bound(low)} TO ${bound(high)}${includesHigh ? ']' : '}'}`,
    matches: (thing) => {
      const value = read(thing);
      if (value === undefined) return false;
      const [above, below] = [low, high].map((limit) => (limit === undefined ? undefined : compare(value, limit)));
      return (
        (above === undefined || above > 0 || (above === 0 && includesLow)) &&
        (below === undefined || below < 0 || (below === 0 && includesHigh))
      );
    },
  };
}

function anyClause(chance: Chance, hasLate: boolean): Asked {
  const [shade, size, mark] = [chance.one(SHADES), chance.one(SIZES), chance.one(MARKS)];
  const sold = chance.is(0.5);
  const number = (a: number | bigint, b: number | bigint) => (a < b ? -1 : a > b ? 1 : 0);
  return chance.one<() => Asked>([
    () => ({ text: `shade:${quoted(shade)}`, matches: (thing) => thing.shade === shade }),
    () => ({ text: 'shade:red*', matches: (thing) => thing.shade?.startsWith('red') === true }),
    () => ({ text: 'shade:*', matches: (thing) => thing.shade !== undefined }),
    () =>
      range(
        chance,
        'shade',
        SHADES,
        (thing) => thing.shade,
        (a, b) => Buffer.compare(bytes(a), bytes(b)),
      ),
    () => ({ text: `size:${quoted(size)}`, matches: (thing) => thing.size === size }),
    () => ({ text: 'size:2.5', matches: () => false }),
    () => range(chance, 'size', SIZES, (thing) => thing.size, number),
    () => ({ text: 'size:{0.5 TO 2.5]', matches: ({ size }) => size === 1n || size === 2n }),
    () => ({ text: `mark:${quoted(mark)}`, matches: (thing) => thing.mark === mark }),
    () => range(chance, 'mark', MARKS, (thing) => thing.mark, number),
    () => ({ text: `sold:${sold}`, matches: (thing) => thing.sold === sold }),
    () => (hasLate ? { text: 'late:b', matches: ({ late }) => late === 'b' } : { text: '*:*', matches: () => true }),
  ])();
}

/** Negations come after `*:*`: inside parentheses they match nothing by themselves. */
function anyPart(chance: Chance, hasLate: boolean, depth = 2): Asked {
  if (depth === 0 || chance.is(0.4)) return anyClause(chance, hasLate);
  const [one, other] = [0, 1].map(() => anyPart(chance, hasLate, depth - 1)) as [Asked, Asked];
  return chance.one<() => Asked>([
    () => ({ text: `(*:* -(${one.text}))`, matches: (thing) => !one.matches(thing) }),
    () => ({ text: `(${one.text}) (${other.text})`, matches: (thing) => one.matches(thing) || other.matches(thing) }),
    () => ({ text: `+(${one.text}) +(${other.text})`, matches: (thing) => one.matches(thing) && other.matches(thing) }),
    () => ({
      text: `*:* -(${one.text}) -(${other.text})`,
      matches: (thing) => !one.matches(thing) && !other.matches(thing),
    }),
  ])();
}

function anyFilter(chance: Chance, hasLate: boolean): Asked {
  const one = anyPart(chance, hasLate);
  return chance.is(0.7) ? one : { text: `-(${one.text})`, matches: (thing) => !one.matches(thing) };
}

describe('filters answered by columns in memory', () => {
  let store: Store;
  sharedStore(
    'postgres',
    (opened) => {
      store = opened;
    },
    (location) => openTestStore(location, 0, { exactDocuments: 50 }),
  );

  it.each(SEEDS)('are what a map would answer, whatever comes: %d', async (seed) => {
    const chance = new Chance(seed);
    const collection = await createCollection(store, `things-${seed}`);
    let things = new Map<string, Thing>();
    /** What each commit shows. */
    const shown = new Map<number, ReadonlyMap<string, Thing>>();
    let hasLate = false;
    let isLateKnown = false;

    const change = async () => {
      const next = new Map(things);
      const changes: object[] = [];
      for (let i = 5 + chance.below(20); i > 0; i--) {
        const id = `t${chance.below(IDS)}`;
        const thing: Thing = {
          ...(chance.is(0.8) ? { shade: chance.one(SHADES) } : {}),
          ...(chance.is(0.8) ? { size: chance.one(SIZES) } : {}),
          ...(chance.is(0.8) ? { mark: chance.one(MARKS) } : {}),
          ...(chance.is(0.8) ? { sold: chance.is(0.3) } : {}),
          ...(hasLate && chance.is(0.3) ? { late: chance.one(['a', 'b']) } : {}),
        };
        const { size, ...others } = thing;
        if (chance.is(0.2)) {
          next.delete(id);
          changes.push({ kind: 'delete', id });
          continue;
        }
        next.set(id, thing);
        const outputs = testOutputs({ shape: [1, chance.below(9), 0, 0] });
        changes.push({ id, ...others, ...(size === undefined ? {} : { size: String(size) }), import: outputs });
      }
      await accept(store, collection, changes);
      things = next;
      shown.set(shown.size + 1, things);
      await commit(store, collection);
      isLateKnown ||= [...things.values()].some(({ late }) => late !== undefined);
    };
    // Sizes are integers of 64 bits, which JavaScript writes as strings.
    await accept(store, collection, [
      ...[{ id: 'first', shade: 'red', size: 1, mark: 0.5, sold: true, import: testOutputs({ shape: [1, 0, 0, 0] }) }],
      ...[{ kind: 'delete', id: 'first' }],
    ]);
    // Few values are not few to the statistics where there are hardly more documents.
    while (things.size < 90) await change();
    await store.engine.query(`analyze ${collection.sqlSchema}.documents`);

    await using other = new InMemorySearch({ exactRows: 50 });
    await using measured = new InMemorySearch({ exactRows: 50 });
    expect(await measured.read(store, collection, { module: 'shape', documents: 1, dimensions: 4 })).toBe(true);
    // Room for a column or two.
    await using tight = new InMemorySearch({ exactRows: 50, memory: measured.use.bytes + 20_000 });
    const from = [store, store, { ...store, inMemory: other }, { ...store, inMemory: tight }];
    const known: Asked[] = [];

    const ask = async (): Promise<void> => {
      const asked = Array.from({ length: 1 + chance.below(3) }, () => {
        const one = known.length > 10 && chance.is(0.5) ? chance.one(known) : anyFilter(chance, isLateKnown);
        known.push(one);
        return { ...one, query: parseQuery(one.text), isFacet: chance.is(0.2), isUncached: chance.is(0.3) };
      });
      const asker = chance.one(from);
      const filters = asked.filter(({ isFacet }) => !isFacet);
      const facets = asked.filter(({ isFacet }) => isFacet);
      const result = await search(asker, collection, {
        query: parseQuery('*:*'),
        filters: filters.map(({ query }) => query),
        facets: facets.map(({ query }) => ({ kind: 'query', query })),
        rank: { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) },
        rows: 1_000,
        uncached: new Set<Query>(asked.filter(({ isUncached }) => isUncached).map(({ query }) => query)),
      }).catch((error: unknown) => {
        // Rows alone may need more, and then only few searches at a time are answered.
        if (asker.inMemory === tight && error instanceof AkinError && error.code === 'unavailable') return undefined;
        throw error;
      });
      if (result === undefined) return;
      const all = [...(shown.get(result.commit) as ReadonlyMap<string, Thing>)];
      const expected = all.filter(([, thing]) => filters.every(({ matches }) => matches(thing)));
      const found = result.hits.map(({ id }) => id).sort();
      expect([filters.map(({ text }) => text), result.numFound, found]).toEqual([
        filters.map(({ text }) => text),
        expected.length,
        expected.map(([id]) => id).sort(),
      ]);
      expect(result.facets).toEqual(
        facets.map(({ matches }) => ({
          kind: 'query',
          count: expected.filter(([, thing]) => matches(thing)).length,
        })),
      );
    };

    for (const text of ['shade:red', 'size:1', 'mark:0', 'sold:true']) {
      const rank = { module: 'shape', vector: Float32Array.of(1, 0, 0, 0) };
      const query = parseQuery(text);
      await search(store, collection, { query, rank, rows: 1, uncached: new Set([query]) });
    }
    await store.inMemory.loadedCollection(collection.id)?.columns.untilRead;
    expect(store.inMemory.loadedCollection(collection.id)?.columns.names).toHaveLength(4);

    for (let step = 0; step < STEPS; step++) {
      hasLate ||= step === 10;
      const searches = Array.from({ length: 1 + chance.below(5) }, ask);
      if (chance.is(0.4)) searches.push(change());
      await Promise.all(searches);
      const held = chance.one(from).inMemory.loadedCollection(collection.id);
      await chance.one<() => unknown>([
        () => held?.columns.untilRead,
        () => held?.columns.untilRead,
        () => change(),
        () => change().then(change),
        () => maintain(store, [collection]),
        () => held?.filters.dropUnused(),
        () => chance.is(0.2) && store.inMemory.unloadAll(),
      ])();
    }
    // A column that turns out not to fit is there for a moment.
    await tight.loadedCollection(collection.id)?.columns.untilRead;
    expect(tight.use.bytes).toBeLessThanOrEqual(tight.use.limit);
  });
});
