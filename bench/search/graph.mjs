import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { passes } from './cases.mjs';
import { ROWS } from './truth.mjs';

// Its ES module does not find its own program.
const require = createRequire(import.meta.url);
const { Index } = require('usearch');

/** A filter is applied to what the graph found, so more is asked of it; at most so many. */
const MOST = 10_000;
const BATCH = 10_000;

/** A graph in the memory of this process, with the filter applied afterwards: what a client without a database does. */
export async function openGraph(file, facts, expansion) {
  const { vectors, columns } = facts;
  const index = new Index({
    dimensions: vectors.width,
    metric: 'l2sq',
    quantization: 'f16',
    connectivity: 16,
    expansion_add: 64,
    expansion_search: expansion,
    multi: false,
  });
  if (await stat(file).catch(() => undefined)) index.load(file);
  else {
    console.error('Building the graph in memory (once) …');
    for (let from = 0; from < vectors.count; from += BATCH) {
      const to = Math.min(vectors.count, from + BATCH);
      const keys = BigUint64Array.from({ length: to - from }, (_, i) => BigInt(from + i));
      index.add(keys, vectors.values.subarray(from * vectors.width, to * vectors.width), 0);
    }
    index.save(file);
  }
  return {
    /** The numbers of the nearest documents that pass the filter, found among three times as many as that should take. */
    search(vector, filter, share) {
      const most = Math.min(MOST, vectors.count, Math.ceil((ROWS * (share === 1 ? 1 : 3)) / share));
      const isMatch = passes(columns, filter);
      return Array.from(index.search(vector, most, 1).keys, Number)
        .filter((number) => number < vectors.count && isMatch(number))
        .slice(0, ROWS);
    },
  };
}
