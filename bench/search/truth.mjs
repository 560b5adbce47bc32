import { passes } from './cases.mjs';
import { squaredDistance, toRows } from './rows.mjs';

/** Documents of a page. */
export const ROWS = 10;
/** Distances that differ by less are equal: sums in another order round otherwise. */
const EQUAL = 1e-6;

/**
 * The right results of one query under every filter, by looking at each document.
 *
 * @returns {{ matches: number, worst: number, distanceTo: (number: number) => number }[]} by filter: how many match, the
 *   squared distance of the last that belongs on the page
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
 * How good a page is.
 *
 * @param {number[]} found numbers of the documents on it
 * @param {{ matches: number, worst: number }} truth
 * @returns {{ recall: number, short: boolean }} the share of the right documents that are there; whether there are less
 *   documents than match
 */
export function judge(found, truth, facts, vector, filter) {
  const query = toRows([vector]);
  const wanted = Math.min(ROWS, truth.matches);
  const isMatch = passes(facts.columns, filter);
  const wrong = found.find((number) => !isMatch(number));
  if (wrong !== undefined)
    throw new Error(`document ${wrong} was found, which does not match ${JSON.stringify(filter)}`);
  const right = new Set(found.filter((i) => squaredDistance(facts.vectors, i, query, 0) <= truth.worst + EQUAL));
  return { recall: wanted === 0 ? 1 : Math.min(1, right.size / wanted), short: new Set(found).size < wanted };
}
