import { stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { passes } from './cases.mjs';
import { ROWS } from './truth.mjs';

// The ES module of usearch does not find its native library; the CommonJS module does.
const require = createRequire(import.meta.url);
const { Index } = require('usearch');

/** Maximum number of documents that the graph returns. A filter is applied to them, so it returns more than a page. */
const MOST = 10_000;
const BATCH = 10_000;

const emptyIndex = (dimensions, expansion) =>
  new Index({
    dimensions,
    metric: 'l2sq',
    quantization: 'f16',
    connectivity: 16,
    expansion_add: 64,
    expansion_search: expansion,
    multi: false,
  });

/** Reads the file of a graph. @param {number} expansion number of candidates of a search */
export function loadIndex(file, dimensions, expansion) {
  const index = emptyIndex(dimensions, expansion);
  index.load(file);
  return index;
}

/** Writes the file of a graph of the descriptors, if it does not exist. */
export async function makeGraph(file, { vectors }) {
  if (await stat(file).catch(() => undefined)) return;
  console.error('Building the graph in memory (once) …');
  const index = emptyIndex(vectors.width, 0);
  for (let from = 0; from < vectors.count; from += BATCH) {
    const to = Math.min(vectors.count, from + BATCH);
    const keys = BigUint64Array.from({ length: to - from }, (_, i) => BigInt(from + i));
    index.add(keys, vectors.values.subarray(from * vectors.width, to * vectors.width), 0);
  }
  index.save(file);
}

/**
 * Opens a graph in the memory of this process. The filter is applied to its results, as a client without a database
 * would do.
 */
export function openGraph(file, { vectors, columns }, expansion) {
  const index = loadIndex(file, vectors.width, expansion);
  return {
    /**
     * Returns the numbers of the nearest documents that pass the filter. With a filter, the graph returns three times
     * as many documents as that should need.
     */
    search(vector, filter, share) {
      const most = Math.min(MOST, vectors.count, Math.ceil((ROWS * (share === 1 ? 1 : 3)) / share));
      const isMatch = passes(columns, filter);
      return Array.from(index.search(vector, most, 1).keys, Number)
        .filter((number) => number < vectors.count && isMatch(number))
        .slice(0, ROWS);
    },
  };
}
