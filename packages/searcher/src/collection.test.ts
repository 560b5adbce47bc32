import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { distance } from '../test/distance.ts';
import { addDocument, finder, gaussian, lacking, nearestOf } from '../test/search.ts';
import { type Bounds, boundsOf, Coder } from './codes.ts';
import { SearchedCollection } from './collection.ts';
import { createKernel, createMemory } from './kernel.ts';
import { Rotation } from './rotation.ts';

const gauss = gaussian(11);
const unit = (numbers: readonly number[]) => {
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (number) => number / length);
};
/** Random vectors around some centers. */
function clustered(count: number, dimensions: number): Float32Array[] {
  const centers = Array.from({ length: 40 }, () => Array.from({ length: dimensions }, gauss));
  return Array.from({ length: count }, (_, i) =>
    unit((centers[i % 40] as number[]).map((number) => number + 0.5 * gauss())),
  );
}

describe('a rotation', () => {
  it.each([4, 7, 16, 48, 192, 256, 384])('of %i numbers keeps distances', (dimensions) => {
    const memory = createMemory(65_536);
    const kernel = createKernel(memory);
    const rotation = new Rotation(dimensions, 1, memory, 16_384);
    const a = Float32Array.from({ length: dimensions }, gauss);
    const b = Float32Array.from({ length: dimensions }, gauss);
    const before = distance(a, b);
    const rotated = new Float32Array(memory.buffer, 0, dimensions);
    for (const vector of [a, b]) {
      rotated.set(vector);
      rotation.apply(kernel, 0);
      vector.set(rotated);
    }
    expect(distance(a, b)).toBeCloseTo(before, 4);
  });
});

/** The bounds of a vector's distance from a query by its levels. */
function boundsBetween(vector: Float32Array, query: Float32Array): Bounds {
  const coder = new Coder(vector.length);
  const levels = new Uint8Array(coder.stride);
  const factors = new Float32Array(3);
  coder.encode(vector, new Uint8Array(coder.bits / 8), levels, factors);
  const coded = coder.query(query);
  const memory = createMemory(65_536);
  const bytes = new Uint8Array(memory.buffer);
  bytes.set(levels);
  new Int16Array(memory.buffer, 32_768, coded.numbers.length).set(coded.numbers);
  createKernel(memory).levelDots(0, coder.stride, 0, 16_384, 1, 32_768, 49_152);
  const dot = new DataView(memory.buffer).getInt32(49_152, true);
  const bounds = { low: 0, estimate: 0, high: 0 };
  const [factor = 0, length = 0, rest = 0] = factors;
  boundsOf(coded, vector.length, dot, factor, length, rest, bounds);
  return bounds;
}

it('bounds distances by levels for any vectors', () => {
  const numbers = fc.array(
    fc.oneof(fc.float({ min: -1, max: 1, noNaN: true }), fc.constantFrom(0, 0, 1e-6, -1e-6, 60_000, -1)),
    { minLength: 48, maxLength: 48 },
  );
  fc.assert(
    fc.property(numbers, numbers, (a, b) => {
      const [vector, query] = [Float32Array.from(a), Float32Array.from(b)];
      const square = distance(vector, query) ** 2;
      const { low, high } = boundsBetween(vector, query);
      expect(low).toBeLessThanOrEqual(square * (1 + 1e-6));
      expect(high).toBeGreaterThanOrEqual(square * (1 - 1e-6));
    }),
    { numRuns: 100.0 },
  );
});

describe.each([
  [2, 500],
  [4, 500],
  [7, 2_000],
  [64, 2_000],
  [192, 6_000],
])('a collection of vectors of %i numbers', (dimensions, count) => {
  const LIMIT = 400;
  const vectors = clustered(count, dimensions);
  const collection = new SearchedCollection(LIMIT);
  for (const [doc, vector] of vectors.entries()) addDocument(collection, doc, 1, vector);
  collection.extendFilter(
    1,
    Uint32Array.from({ length: count / 2 }, (_, i) => 2 * i),
  );
  collection.extendFilter(
    2,
    Float64Array.from({ length: 200 }, (_, i) => 2 * i),
  );
  collection.advance(1);

  const find = finder({ exactRows: LIMIT, minCompared: LIMIT / 4 });
  const queries = clustered(12, dimensions);

  it('returns nearly all of the nearest, also with filters', () => {
    for (const [filters, isIn] of [
      [[], () => true],
      [[1], (doc: number) => doc % 2 === 0],
    ] as const) {
      let right = 0;
      for (const query of queries) {
        const { docs, matches, isExact } = find(collection, query, { filters });
        const all = nearestOf(vectors, query, isIn);
        expect(matches).toBe(all.length);
        expect(isExact).toBe(all.length <= LIMIT || count <= 2 * LIMIT);
        const near = new Set(docs);
        right += all.slice(0, 10).filter(({ doc }) => near.has(doc)).length;
      }
      expect(right / (10 * queries.length)).toBeGreaterThanOrEqual(0.95);
    }
  });

  it('misses nothing if few rows match, if an exact result is requested, and within a distance', () => {
    for (const query of queries) {
      const few = find(collection, query, { filters: [1, 2] });
      expect(few.isExact).toBe(true);
      const nearest = nearestOf(vectors, query, (doc) => doc < 400 && doc % 2 === 0).slice(0, 10);
      expect(
        lacking(
          few.docs,
          nearest.map(({ doc }) => doc),
        ),
      ).toEqual([]);
      const exact = find(collection, query, { exactRows: Number.POSITIVE_INFINITY });
      const all = nearestOf(vectors, query);
      expect(
        lacking(
          exact.docs,
          all.slice(0, 10).map(({ doc }) => doc),
        ),
      ).toEqual([]);
      const maxDistance = all[30]?.distance ?? 0;
      const within = find(collection, query, { maxDistance });
      const wanted = all.filter((one) => one.distance <= maxDistance).map(({ doc }) => doc);
      expect(lacking(within.docs, wanted)).toEqual([]);
      expect(within.docs.length).toBeLessThan(Math.max(500, count / 2));
    }
  });
});

it('answers for each loaded commit, and for no other', () => {
  const collection = new SearchedCollection(10);
  const vector = unit([1, 2, 3, 4]);
  const query = {
    module: 'view',
    filters: [],
    vector,
    k: 5,
    exactRows: 10,
    minCompared: 5,
    maxCandidates: 100,
  };
  const docs = (commit: number) => {
    const found = collection.search({ ...query, commit });
    return found && [...found.docs].sort((a, b) => a - b);
  };
  for (const doc of [1, 2]) {
    collection.addRow(doc, 1);
    collection.setVector('view', doc, vector);
  }
  collection.advance(1);
  collection.addRow(3, 2);
  collection.setVector('view', 3, vector);
  collection.expireRow(1, 2);
  // Adding a row twice changes nothing.
  collection.addRow(3, 2);
  collection.expireRow(1, 2);
  expect(docs(1)).toEqual([1, 2]);
  collection.advance(2);
  expect(docs(1)).toEqual([1, 2]);
  expect(docs(2)).toEqual([2, 3]);
  expect(() => docs(3)).toThrow('not in memory');
  expect(docs(0)).toBeUndefined();
  expect(() => collection.search({ ...query, commit: 2, filters: [7] })).toThrow('filter 7');
  expect(collection.search({ ...query, commit: 2, module: 'none' })).toMatchObject({ matches: 0, isExact: true });
});

it('finds a document of a commit that was taken for a removed one before', () => {
  const collection = new SearchedCollection(100);
  const vector = unit([1, 2, 3, 4]);
  const limits = { k: 5, exactRows: 100, minCompared: 5, maxCandidates: 100 };
  const docs = (commit: number) => [
    ...(collection.search({ commit, module: 'view', filters: [], vector, ...limits })?.docs ?? []),
  ];
  const add = (doc: number, commit: number) => {
    collection.addRow(doc, commit);
    collection.setVector('view', doc, vector);
  };
  add(1, 5);
  collection.advance(5);
  expect(docs(5)).toEqual([1]);
  add(2, 6);
  expect(docs(5)).toEqual([1]);
  collection.advance(6);
  expect([docs(5), docs(6)]).toEqual([[1], [1, 2]]);
  collection.expireRow(2, 7);
  // What a commit has ended stays so.
  add(2, 6);
  collection.advance(7);
  expect([docs(6), docs(7)]).toEqual([[1, 2], [1]]);
});

it('removes dead rows, and does not change the others', () => {
  const collection = new SearchedCollection(100);
  const vectors = clustered(4_000, 32);
  for (const [doc, vector] of vectors.entries()) {
    collection.addRow(doc, 1);
    collection.setVector('view', doc, vector);
  }
  collection.extendFilter(
    1,
    Uint32Array.from({ length: 1_000 }, (_, i) => 4 * i),
  );
  collection.advance(1);
  const before = collection.bytes;
  for (let doc = 0; doc < 4_000; doc++) if (doc % 8 !== 0) collection.expireRow(doc, 2);
  collection.advance(2);
  const limits = { exactRows: 100, minCompared: 50, maxCandidates: 1_000 };
  const query = { module: 'view', vector: vectors[8] as Float32Array, k: 3, ...limits };
  const all = collection.search({ ...query, commit: 2, filters: [] });
  expect(all).toMatchObject({ matches: 500 });
  expect([...(all?.docs ?? [])]).toContain(8);
  expect(all?.docs.every((doc) => doc % 8 === 0)).toBe(true);
  expect(collection.search({ ...query, commit: 2, filters: [1] })).toMatchObject({ matches: 500 });
  expect(collection.search({ ...query, commit: 1, filters: [] })).toBeUndefined();
  expect(collection.bytes).toBeLessThan(before / 2);
  collection.addRow(9_999, 3);
  collection.setVector('view', 9_999, vectors[9] as Float32Array);
  collection.advance(3);
  expect(collection.search({ ...query, commit: 3, filters: [] })).toMatchObject({ matches: 501 });
});

it('compares every row for any number of rows and any first position with a vector', () => {
  const vectors = clustered(40, 16);
  for (const first of [0, 5_000, 5_001]) {
    const collection = new SearchedCollection(6_000);
    for (let doc = 0; doc < first + 40; doc++) {
      collection.addRow(doc, 1);
      if (doc >= first) collection.setVector('view', doc, vectors[doc - first] as Float32Array);
    }
    collection.advance(1);
    const vector = vectors[39] as Float32Array;
    const limits = { exactRows: 6_000, minCompared: 50, maxCandidates: 1_000 };
    const found = collection.search({ commit: 1, module: 'view', filters: [], vector, k: 3, ...limits });
    expect([...(found?.docs ?? [])]).toContain(first + 39);
  }
  // The collection grows in small steps until it is large enough for codes.
  const collection = new SearchedCollection(20);
  const many = clustered(3_100, 8);
  const limits = { exactRows: 20, minCompared: 20, maxCandidates: 1_000 };
  for (const [doc, vector] of many.entries()) {
    collection.addRow(doc, 1);
    collection.setVector('view', doc, vector);
    if (doc % 7 !== 0 || doc < 500) continue;
    collection.advance(1);
    const found = collection.search({ commit: 1, module: 'view', filters: [], vector, k: 3, ...limits });
    expect([...(found?.docs ?? [])]).toContain(doc);
  }
});

it.each([
  [10, 4],
  [1_000, 48],
  [1_025, 256],
  [4_000, 192],
  [9_000, 2],
])('takes no more memory than it says, for %i rows of %i numbers', (rows, dimensions) => {
  for (const exactRows of [100, 10_000]) {
    const collection = new SearchedCollection(exactRows);
    for (let doc = 0; doc < rows; doc++) {
      collection.addRow(doc, 1);
      collection.setVector('view', doc, new Float32Array(dimensions).fill(1));
    }
    const most = SearchedCollection.bytesFor(rows, dimensions, exactRows);
    expect(collection.bytes).toBeLessThanOrEqual(most);
    expect(collection.bytes).toBeGreaterThan(most / 3);
  }
});
