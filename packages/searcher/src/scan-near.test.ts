import { expect, it } from '@jest/globals';
import { addDocument, finder, gaussian, nearestOf } from '../test/search.ts';
import { CodeTable } from './code-table.ts';
import { Coder, expectedSignSum } from './codes.ts';
import { SearchedCollection } from './collection.ts';
import { Segment } from './segment.ts';

const ROWS = 1_024;

const lengthOf = (vector: Float32Array) => Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));

/** A vector with a cosine to a vector of length 1, of a given length. */
function atCosine(vector: Float32Array, cosine: number, length: number, gauss: () => number): Float32Array {
  const other = vector.map(gauss);
  const along = other.reduce((sum, number, i) => sum + number * (vector[i] as number), 0);
  const across = other.map((number, i) => number - along * (vector[i] as number));
  const scale = Math.sqrt(1 - cosine ** 2) / lengthOf(across);
  return vector.map((number, i) => length * (cosine * number + scale * (across[i] as number)));
}

it.each([32, 256])('sums of signs of vectors at one angle are as likely as computed, %i numbers', (numbers) => {
  const gauss = gaussian(numbers);
  const first = Float32Array.from({ length: numbers }, gauss);
  const length = lengthOf(first);
  const query = first.map((number) => number / length);
  const coder = new Coder(numbers);
  for (const cosine of [-0.3, 0.1, 0.5, 0.8, 0.95]) {
    const segment = new Segment(coder, ROWS);
    for (let row = 0; row < ROWS; row++) segment.set(row, atCosine(query, cosine, 0.5 + (row % 7), gauss));
    segment.mask.fill(-1);
    const coded = coder.query(query.map((number) => 3 * number));
    segment.setQuery(coded);
    const shareUpTo = (deviations: number) =>
      segment.findBySigns(0, ROWS, Math.ceil(expectedSignSum(coded, coder.dimensions, cosine, deviations))) / ROWS;
    expect(shareUpTo(0)).toBeGreaterThan(0.4);
    expect(shareUpTo(0)).toBeLessThan(0.6);
    expect(shareUpTo(2)).toBeGreaterThan(0.95);
    expect(shareUpTo(-2)).toBeLessThan(0.06);
  }
});

it('knows the smallest cosine of vectors within a distance', () => {
  const gauss = gaussian(7);
  const codes = new CodeTable(new Coder(8));
  const vectors = Array.from({ length: 500 }, () => Float32Array.from({ length: 8 }, gauss));
  for (const [row, vector] of vectors.entries()) codes.set(row, vector);
  for (let i = 0; i < 50; i++) {
    const query = Float32Array.from({ length: 8 }, () => (1 + (i % 3)) * gauss());
    const coded = codes.coder.query(query);
    const squares = vectors.map((vector) => vector.reduce((sum, n, j) => sum + (n - (query[j] as number)) ** 2, 0));
    const cosines = vectors.map(
      (vector) =>
        vector.reduce((sum, n, j) => sum + n * (query[j] as number), 0) / (lengthOf(vector) * lengthOf(query)),
    );
    for (const rank of [3, 40, 400]) {
      const squared = [...squares].sort((a, b) => a - b)[rank] as number;
      const least = Math.min(...cosines.filter((_, row) => (squares[row] as number) <= squared));
      expect(codes.minCosine(coded, squared)).toBeLessThanOrEqual(least + 1e-3);
    }
  }
});

it('scans on while rows may be near, where rows are in all directions', () => {
  const gauss = gaussian(11);
  const collection = new SearchedCollection(500);
  const find = finder({ exactRows: 500, minCompared: 500 });
  const vectors = Array.from({ length: 40_000 }, () => Float32Array.from({ length: 48 }, gauss));
  for (const [doc, vector] of vectors.entries()) addDocument(collection, doc, 1, vector);
  collection.advance(1);
  find(collection, vectors[0] as Float32Array, { commit: 1 });
  for (const _ of collection.clustering() ?? []);
  let [right, compared] = [0, 0];
  for (let i = 0; i < 10; i++) {
    const query = Float32Array.from({ length: 48 }, gauss);
    const nearest = nearestOf(vectors, query, () => true).slice(0, 10);
    const found = find(collection, query, { commit: 1 });
    const given = new Set(found.docs);
    right += nearest.filter(({ doc }) => given.has(doc)).length;
    compared += found.compared;
  }
  expect(right / 100).toBeGreaterThanOrEqual(0.98);
  expect(compared / 10).toBeLessThan(vectors.length / 3);
});
