import { passes } from './cases.mjs';
import { squaredDistance, toRows } from './rows.mjs';

/** Number of documents on a page. */
export const ROWS = 10;
/** Distances that differ by less than this count as equal, because sums in another order are rounded differently. */
const EQUAL = 1e-6;

/**
 * Finds the right results of one query under every filter, by comparing all documents.
 *
 * @returns {{ matches: number, worst: number, distanceTo: (number: number) => number }[]} for each filter: how many
 *   documents match, and the squared distance of the last document that belongs on the page
 */
export function findTruth({ vectors, columns }, vector, filters) {
  const query = toRows([vector]);
  const distances = new Float32Array(vectors.count);
  for (let i = 0; i < vectors.count; i++) distances[i] = squaredDistance(vectors, i, query, 0);
  return filters.map((filter) => {
    const isMatch = passes(columns, filter);
    const best = [];
    let matches = 0;
    for (let i = 0; i < vectors.count; i++) {
      if (!isMatch(i)) continue;
      matches += 1;
      if (best.length === ROWS && distances[i] >= best[ROWS - 1]) continue;
      let at = best.length;
      while (at > 0 && best[at - 1] > distances[i]) at--;
      best.splice(at, 0, distances[i]);
      if (best.length > ROWS) best.pop();
    }
    return { matches, worst: best.at(-1) ?? 0 };
  });
}

/**
 * Judges how good a page is.
 *
 * @param {number[]} found numbers of the documents on the page
 * @param {{ matches: number, worst: number }} truth
 * @returns {{ recall: number, short: boolean }} `recall` is the share of the right documents that are on the page;
 *   `short` says whether the page has too few documents
 */
export function evaluate(found, truth, facts, vector, filter) {
  const query = toRows([vector]);
  const wanted = Math.min(ROWS, truth.matches);
  const isMatch = passes(facts.columns, filter);
  const wrong = found.find((number) => !isMatch(number));
  if (wrong !== undefined)
    throw new Error(`document ${wrong} was found, which does not match ${JSON.stringify(filter)}`);
  const right = new Set(found.filter((i) => squaredDistance(facts.vectors, i, query, 0) <= truth.worst + EQUAL));
  return { recall: wanted === 0 ? 1 : Math.min(1, right.size / wanted), short: new Set(found).size < wanted };
}
