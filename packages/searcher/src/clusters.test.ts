import { beforeAll, describe, expect, it } from '@jest/globals';
import { addDocument, finder, gaussian, lacking, nearestOf } from '../test/search.ts';
import { CodeTable } from './code-table.ts';
import { Coder, MAX_SIGN_SUM } from './codes.ts';
import { SearchedCollection } from './collection.ts';
import { NO_LIMIT } from './segment.ts';

const DIMENSIONS = 32;
const ROWS = 19_000;
const LIMIT = 500;
const gauss = gaussian(5);
const centers = Array.from({ length: 300 }, () => Float32Array.from({ length: DIMENSIONS }, gauss));

/** A vector around one of the centers. */
function near(center: number): Float32Array {
  return (centers[center % centers.length] as Float32Array).map((number) => number + 0.4 * gauss());
}

const vectors: Float32Array[] = [];
const add = (collection: SearchedCollection, doc: number, commit: number, vector = near(doc)) => {
  vectors[doc] = vector;
  addDocument(collection, doc, commit, vector);
};
const exact = { maxDistance: undefined, exactRows: Number.POSITIVE_INFINITY };
const find = finder({ exactRows: LIMIT, minCompared: 1_000 });

/** Checks exact results, distances, filters, and the recall of approximate results. */
function expectRightResults(collection: SearchedCollection, commit: number, isIn: (doc: number) => boolean) {
  const isEven = (doc: number) => doc % 2 === 0;
  let [right, wanted] = [0, 0];
  for (let i = 0; i < 8; i++) {
    // Some queries are unlike all vectors.
    const query = i % 4 === 3 ? Float32Array.from({ length: DIMENSIONS }, gauss) : near(7 * i);
    const all = nearestOf(vectors, query, isIn);
    const nearest = all.slice(0, 10).map(({ doc }) => doc);
    const found = find(collection, query, { commit });
    expect(found.matches).toBe(all.length);
    expect(lacking(find(collection, query, { commit, ...exact }).docs, nearest)).toEqual([]);
    const maxDistance = all[40]?.distance ?? 0;
    const within = all.filter((one) => one.distance <= maxDistance).map(({ doc }) => doc);
    expect(lacking(find(collection, query, { commit, maxDistance }).docs, within)).toEqual([]);
    const even = all.filter(({ doc }) => isEven(doc)).map(({ doc }) => doc);
    const filtered = find(collection, query, { commit, filters: [1] });
    expect(filtered.matches).toBe(even.length);
    expect([...filtered.docs].every((doc) => isIn(doc) && isEven(doc))).toBe(true);
    for (const [docs, expected] of [
      [found.docs, nearest],
      [filtered.docs, even.slice(0, 10)],
    ] as const) {
      const given = new Set(docs);
      right += expected.filter((doc) => given.has(doc)).length;
      wanted += expected.length;
    }
  }
  expect(right / wanted).toBeGreaterThanOrEqual(0.97);
}

it('scans near clusters first, and ends when it is enough', () => {
  const codes = new CodeTable(new Coder(DIMENSIONS));
  const rows = Array.from({ length: ROWS }, (_, row) => near(row));
  for (const [row, vector] of rows.entries()) codes.set(row, vector);
  const scan = (query: Float32Array, mostMatches: number) => {
    let matches = 0;
    let taken = 0;
    const compared = codes.scanClusters(codes.coder.query(query), undefined, {
      maxSum: () => MAX_SIGN_SUM,
      visit: () => {
        taken++;
      },
      limit: NO_LIMIT,
      isEnough: (count) => {
        matches += count;
        return matches >= mostMatches;
      },
    });
    expect(taken).toBe(compared);
    return { matches, compared };
  };
  expect(scan(near(1), 1)).toEqual({ matches: 0, compared: ROWS });
  for (const _ of codes.cluster());
  expect(scan(near(1), ROWS)).toEqual({ matches: ROWS, compared: ROWS });
  const { matches, compared } = scan(near(1), 500);
  expect(compared).toBe(matches);
  expect(compared).toBeLessThan(ROWS / 10);
});

describe('clusters of codes', () => {
  const collection = new SearchedCollection(LIMIT);

  beforeAll(() => {
    for (let doc = 0; doc < ROWS; doc++) add(collection, doc, 1);
    collection.extendFilter(
      1,
      Uint32Array.from({ length: ROWS }, (_, i) => 2 * i),
    );
    collection.advance(1);
  });

  it('are made only after a search', () => {
    expect(collection.clustering()).toBeUndefined();
    find(collection, near(1));
    expect(collection.clustering()).toBeDefined();
  });

  it('change no result while they are made, and rows can be added meanwhile', () => {
    const steps = collection.clustering();
    let [step, doc] = [0, ROWS];
    for (const _ of steps ?? []) {
      if (step++ % 30 !== 0) continue;
      add(collection, doc, 1, near(doc));
      if (doc % 2 === 0) collection.extendFilter(1, Uint32Array.of(doc));
      const query = vectors[doc] as Float32Array;
      const nearest = nearestOf(vectors, query).slice(0, 3);
      const found = find(collection, query, exact);
      expect(
        lacking(
          found.docs,
          nearest.map((one) => one.doc),
        ),
      ).toEqual([]);
      doc++;
    }
    expect(step).toBeGreaterThan(60);
    expect(collection.clustering()).toBeUndefined();
    expectRightResults(collection, 1, () => true);
  });

  it('answer for later commits, and are made again after many new rows', () => {
    const before = vectors.length;
    for (let doc = before; doc < before + ROWS; doc++) add(collection, doc, 2, near(doc));
    collection.extendFilter(
      1,
      Uint32Array.from({ length: ROWS }, (_, i) => before + i).filter((doc) => doc % 2 === 0),
    );
    for (let doc = 0; doc < 900; doc++) collection.expireRow(doc, 2);
    collection.advance(2);
    expectRightResults(collection, 1, (doc) => doc < before);
    expectRightResults(collection, 2, (doc) => doc >= 900);
    const steps = collection.clustering();
    expect(steps).toBeDefined();
    for (const _ of steps ?? []);
    expectRightResults(collection, 1, (doc) => doc < before);
    expectRightResults(collection, 2, (doc) => doc >= 900);
  });

  it('stay when dead rows are removed', () => {
    const count = vectors.length;
    for (let doc = 0; doc < count; doc += 3) collection.expireRow(doc, 3);
    collection.advance(3);
    expect(() => find(collection, near(1), { commit: 2 })).toThrow('not searched');
    expect(collection.clustering()).toBeUndefined();
    expectRightResults(collection, 3, (doc) => doc % 3 !== 0 && doc >= 900);
  });

  it('are given up when rows are removed while they are made', () => {
    const other = new SearchedCollection(LIMIT);
    for (let doc = 0; doc < ROWS; doc++) {
      other.addRow(doc, 1);
      other.setVector('view', doc, vectors[doc] as Float32Array);
    }
    other.advance(1);
    find(other, near(1));
    const steps = other.clustering();
    for (let i = 0; i < 50; i++) steps?.next();
    for (let doc = 0; doc < ROWS; doc += 3) other.expireRow(doc, 2);
    other.advance(2);
    expect(steps?.next().done).toBe(true);
    expect([...find(other, vectors[1] as Float32Array, { commit: 2 }).docs]).toContain(1);
  });
});
