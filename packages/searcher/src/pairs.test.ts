import { createRandom } from '@akin/domain/random';
import { describe, expect, it } from '@jest/globals';
import { distance } from '../test/distance.ts';
import { rowBytes } from '../test/row-bytes.ts';
import { SearchedCollection } from './collection.ts';
import type { NearPairs } from './pairs.ts';
import { Searcher } from './searcher.ts';

const random = createRandom(3);
const CENTERS = Array.from({ length: 12 }, () => Array.from({ length: 48 }, () => random() - 0.5));

/** A vector near one of some centers, so that there are near pairs, and many pairs that are just too far apart. */
function anyVector(dimensions: number): Float32Array {
  const center = CENTERS[Math.floor(random() * CENTERS.length)] as number[];
  const numbers = center.slice(0, dimensions).map((number) => number + 0.25 * (random() - 0.5));
  const length = Math.hypot(...numbers);
  return Float32Array.from(numbers, (number) => number / length);
}

const cellOf = (doc: number) => doc % 7;

/** A query of many vectors. Each has two different cells, one of which may be empty; the last one has none. */
function queryOf(vectors: readonly Float32Array[], maxDistance: number) {
  const cells = vectors.slice(1).flatMap((_, i) => [i % 7, i % 9 === 4 ? 8 : (i + 3) % 7]);
  return {
    module: 'view',
    maxDistance,
    maxPairs: 100_000,
    cells: Int32Array.from(cells),
    vectors: Float32Array.from(vectors.flatMap((vector) => [...vector])),
    ends: Int32Array.from(vectors, (_, i) => Math.min(2 * (i + 1), cells.length)),
  };
}

const pairsOf = (pairs: NearPairs | undefined) =>
  new Set(Array.from(pairs?.queries ?? [], (i, at) => `${i} ${pairs?.docs[at]}`));

describe.each([
  [4, 300],
  [48, 300],
  [48, 3_000],
])('pairs of vectors of %i numbers among %i', (dimensions, count) => {
  const vectors = Array.from({ length: count }, () => anyVector(dimensions));
  const collection = new SearchedCollection(400);
  const query = queryOf(
    Array.from({ length: 50 }, () => anyVector(dimensions)),
    0.35,
  );

  it('are all documents of the cells within the distance, and few others', () => {
    expect(collection.pairs(query)).toBeUndefined();
    collection.beginCells();
    for (const [doc, vector] of vectors.entries()) {
      collection.addRow(doc, 1);
      collection.setVector('view', doc, vector);
      // Every fifth document has no cell.
      if (doc % 5 !== 0) expect(collection.assignCell('view', doc, cellOf(doc))).toBe(true);
    }
    collection.advance(1);
    const pairs = collection.pairs(query);
    const [near, asked] = [new Set<string>(), new Set<string>()];
    for (const [i, end] of query.ends.entries()) {
      const cells = new Set(query.cells.subarray(query.ends[i - 1] ?? 0, end));
      const vector = query.vectors.subarray(i * dimensions, (i + 1) * dimensions);
      for (const [doc, other] of vectors.entries()) {
        if (doc % 5 === 0 || !cells.has(cellOf(doc))) continue;
        asked.add(`${i} ${doc}`);
        if (distance(vector, other) <= 0.35) near.add(`${i} ${doc}`);
      }
    }
    expect(near.size).toBeGreaterThan(50);
    const found = pairsOf(pairs);
    expect([...near].filter((pair) => !found.has(pair))).toEqual([]);
    expect([...found].filter((pair) => !asked.has(pair))).toEqual([]);
    expect(found.size).toBeLessThan(2 * near.size);
    expect(collection.pairs({ ...query, maxPairs: near.size - 1 })).toMatchObject({ isOverLimit: true });
  });

  it('are not found after rows were removed, until all have cells again', () => {
    for (let doc = 10_000; doc < 11_500; doc++) collection.addRow(doc, 2);
    for (let doc = 10_000; doc < 11_500; doc++) collection.expireRow(doc, 3);
    collection.advance(3);
    expect(collection.pairs(query)).toBeUndefined();
    collection.beginCells();
    // Of rows that are gone, and of those without a vector, the caller must know.
    collection.addRow(20_000, 4);
    for (const doc of [10_000, 20_000]) expect(collection.assignCell('view', doc, 0)).toBe(false);
    expect(collection.pairs(query)).toMatchObject({ isOverLimit: false, docs: new Float64Array() });
  });
});

it.each([1, 3])('%i threads tell the same pairs, of many vectors at once too', async (threads) => {
  await using searcher = new Searcher({ threads, exactRows: 100 });
  const count = 90;
  const cells = new DataView(new ArrayBuffer(12 * count));
  for (let i = 0; i < count; i++) {
    cells.setBigUint64(12 * i, BigInt(i));
    cells.setUint32(12 * i + 8, 1);
  }
  const bytes = (view: DataView) => new Uint8Array(view.buffer);
  await searcher.change(1, { kind: 'begin' });
  await searcher.change(1, { kind: 'rows', modules: ['view'], bytes: rowBytes(count) });
  // All documents are in cell 1.
  expect(await searcher.assignCells(1, 'view', bytes(cells).slice(0, 12), true)).toEqual([]);
  expect(
    await searcher.assignCells(
      1,
      'view',
      bytes(cells).map((byte, i) => (i === 7 ? 200 : byte)),
      false,
    ),
  ).toEqual([[200, 1]]);
  const query = {
    module: 'view',
    maxDistance: 0.5,
    maxPairs: 10_000,
    vectors: Float32Array.from({ length: 140 }, (_, i) => (i % 4 === 0 || i % 4 === 3 ? 1 : 0)),
    cells: new Int32Array(70).fill(1),
    ends: Int32Array.from({ length: 70 }, (_, i) => i + 1),
  };
  const expected = new Set<string>();
  for (let i = 0; i < 70; i++) for (let doc = 1; doc < count; doc++) if (doc % 2 === i % 2) expected.add(`${i} ${doc}`);
  for (let i = 0; i < 70; i += 2) expected.add(`${i} 0`);
  expect(pairsOf(await searcher.pairs(1, query))).toEqual(expected);
  expect(await searcher.pairs(1, { ...query, maxPairs: 1_000 })).toMatchObject({ isOverLimit: true });
  expect(
    await searcher.pairs(1, { ...query, vectors: new Float32Array(), cells: new Int32Array(), ends: new Int32Array() }),
  ).toMatchObject({ docs: new Float64Array() });
});
