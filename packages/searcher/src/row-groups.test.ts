import { describe, expect, it } from '@jest/globals';
import { addDocument, finder, gaussian, nearestOf } from '../test/search.ts';
import { SearchedCollection } from './collection.ts';
import { mergeCandidates, queryForPart } from './merge.ts';
import type { Distinct, PartCandidates, VectorQuery } from './query.ts';

const COUNT = 4_000;
const COLUMN = 5;
const gauss = gaussian(3);
const centers = Array.from({ length: 60 }, () => Array.from({ length: 16 }, gauss));
/** A product has a center, from which its pictures are not far. Document 0 to 599 are pictures of one product. */
const productOf = (doc: number) => (doc < 600 ? 1 : 1 + (doc % 400));
const vectors = Array.from({ length: COUNT }, (_, doc) =>
  Float32Array.from(centers[productOf(doc) % 60] as number[], (number) => number + 0.4 * gauss()),
);
/** Every seventh document has no product. */
const hasProduct = (doc: number) => doc % 7 > 0;
const PARTS = 3;

/** @param exactRows up to twice this number of rows keep full vectors */
function partsWith(exactRows: number): SearchedCollection[] {
  const parts = Array.from({ length: PARTS }, () => new SearchedCollection(exactRows));
  for (const [doc, vector] of vectors.entries()) {
    addDocument(parts[doc % PARTS] as SearchedCollection, doc, 1, vector);
    if (hasProduct(doc)) parts[doc % PARTS]?.setValue(COLUMN, doc, productOf(doc));
  }
  for (const part of parts) {
    part.extendFilter(
      1,
      Uint32Array.from({ length: COUNT / 2 }, (_, i) => 2 * i),
    );
    part.advance(1);
  }
  return parts;
}

/** The nearest document of each group that matches, nearest first. */
function headsOf(query: Float32Array, missing: Distinct['missing'], isIn: (doc: number) => boolean) {
  const seen = new Set<number>();
  return nearestOf(vectors, query, isIn).filter(({ doc }) => {
    if (!hasProduct(doc) && missing === 'leave-out') return false;
    const group = hasProduct(doc) ? productOf(doc) : missing === 'each' ? -1 - doc : 0;
    if (seen.has(group)) return false;
    seen.add(group);
    return true;
  });
}

describe.each([
  ['full vectors', COUNT, Number.POSITIVE_INFINITY],
  ['all codes', 100, Number.POSITIVE_INFINITY],
  ['near codes', 100, 200],
])('the nearest of each group by %s', (_, kept, exactRows) => {
  const parts = partsWith(kept);
  const search = (vector: Float32Array, query: Pick<VectorQuery, 'k' | 'filters'> & { distinct: Distinct }) => {
    const whole = { commit: 1, module: 'view', vector, maxCandidates: 3_000, exactRows, minCompared: 500, ...query };
    const find = finder({ exactRows, minCompared: 0 });
    const share = queryForPart(whole, PARTS);
    return mergeCandidates(
      parts.map((part) => find(part, vector, share) as PartCandidates),
      whole,
    );
  };

  it.each(['leave-out', 'each', 'together'] as const)('is among the candidates, without a value: %s', (missing) => {
    for (const [k, filters, isIn] of [
      [1, [], () => true],
      [10, [], () => true],
      [40, [1], (doc: number) => doc % 2 === 0],
      [1_000, [1], (doc: number) => doc % 2 === 0],
    ] as const) {
      const query = Float32Array.from(centers[1] as number[], (number) => number + 0.2 * gauss());
      const found = search(query, { k, filters, distinct: { column: COLUMN, missing } });
      const heads = headsOf(query, missing, isIn);
      expect(found.groupCount).toBe(heads.length);
      const docs = new Set(found.docs);
      const wanted = heads.slice(0, k);
      const missed = wanted.filter(({ doc }) => !docs.has(doc));
      // Codes alone decide among many; they miss a few.
      expect(missed.length).toBeLessThanOrEqual(exactRows === 200 ? Math.ceil(0.05 * k) : 0);
      expect([found.isOverLimit, found.isExact]).toEqual([false, exactRows !== 200]);
      for (const [i, doc] of found.docs.entries()) {
        expect(found.groups?.[i]).toBe(hasProduct(doc) ? productOf(doc) : missing === 'each' ? -1 - doc : 0);
      }
    }
  });
});

it('counts groups of a column that no row has', () => {
  const [part] = partsWith(COUNT);
  const find = finder({ exactRows: COUNT, minCompared: 0 });
  const query = (missing: Distinct['missing']) => {
    const found = find(part as SearchedCollection, vectors[0] as Float32Array, { distinct: { column: 9, missing } });
    return [found.docs.length > 0, (found as PartCandidates).found?.withoutValue];
  };
  expect(query('leave-out')).toEqual([false, 0]);
  expect(query('together')).toEqual([true, 1_200]);
});
