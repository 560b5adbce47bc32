import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { docSetOf, forEachIn } from './doc-set.ts';

const SHARD = 2 ** 40;
const doc = fc.tuple(fc.constantFrom(0, SHARD, 7 * SHARD), fc.nat(200_000)).map(([first, number]) => first + number);

it('contains exactly the documents that it was made from', () => {
  fc.assert(
    fc.property(fc.array(doc, { maxLength: 40 }), fc.array(doc, { maxLength: 40 }), (ends, asked) => {
      // Enough documents to give each range the two pages that it may touch.
      const docs = ends.flatMap((end) => Array.from({ length: 520 }, (_, i) => end + i));
      const set = docSetOf(Float64Array.from(docs));
      const rows = Float64Array.from([...asked, ...docs.slice(0, 3_000)]);
      const found: number[] = [];
      if (set !== undefined) forEachIn(set, rows, (index) => found.push(index));
      const all = new Set(docs);
      expect(found).toEqual([...rows.keys()].filter((index) => all.has(rows[index] as number)));
    }),
    { numRuns: 20 },
  );
});

it('is not built for sparse documents, for which it would take much more memory than their numbers', () => {
  expect(docSetOf(Float64Array.from({ length: 10_000 }, (_, i) => i * 65_536))).toBeUndefined();
  expect(docSetOf(Uint32Array.from({ length: 10_000 }, (_, i) => i * 200))).toBeDefined();
});
