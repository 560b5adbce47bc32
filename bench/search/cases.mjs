import { createDice } from '../lib/random.mjs';
import { FILTER_COLUMNS } from './collection.mjs';
import { nearestRows, rowAt, squaredDistance, toRows } from './rows.mjs';

/**
 * Prepares queries by pictures that are not in the collection, in equal steps. If there are few such pictures, some are
 * used more than once.
 */
export function prepareQueries(model, most) {
  const vectors = toRows(model.heldOut.map(({ outputs }) => outputs.descriptors.get('content').vector));
  const step = vectors.count / most;
  const content = model.real.get('content');
  return Array.from({ length: most }, (_, i) => {
    const at = Math.floor(i * step);
    const [{ row }] = nearestRows(content, vectors, at, 1);
    return {
      outputs: model.heldOut[at].text,
      vector: rowAt(vectors, at),
      region: model.regions.of[row],
      regions: fromNearToFar(model.regions.centers, rowAt(vectors, at)),
      dice: createDice(1000 + i),
    };
  });
}

/**
 * Sorts the regions by the similarity of their pictures. Empty regions, which occur if there are few pictures, are left
 * out.
 */
function fromNearToFar(centers, vector) {
  const one = toRows([vector]);
  return Array.from({ length: centers.count }, (_, region) => ({
    region,
    distance: rowAt(centers, region).every((value) => value === 0)
      ? undefined
      : squaredDistance(centers, region, one, 0),
  }))
    .filter(({ distance }) => distance !== undefined)
    .sort((a, b) => a.distance - b.distance)
    .map(({ region }) => region);
}

/** Take a share of all regions: the nearest ones or the farthest ones. */
const nearest = (regions, share) => regions.slice(0, Math.ceil(regions.length * share));
const farthest = (regions, share) => regions.slice(-Math.ceil(regions.length * share));

/**
 * The filters of the searches. `filter` gives the requested values for each column: a document matches if its column
 * equals one of them. A minus before the name of a column means that its value must be none of them.
 *
 * @type {{ title: string, share: number, filter: (query: any) => Filter }[]}
 * @typedef {Record<string, number | number[]>} Filter
 */
export const CASES = [
  { title: 'no filter', share: 1, filter: () => ({}) },
  { title: '10 %', share: 0.1, filter: ({ dice }) => ({ tenth: dice.whole(10) }) },
  { title: '1 %', share: 0.01, filter: ({ dice }) => ({ hundredth: dice.whole(100) }) },
  { title: '0.1 %', share: 0.001, filter: ({ dice }) => ({ thousandth: dice.whole(1_000) }) },
  { title: '0.01 %', share: 0.0001, filter: ({ dice }) => ({ ten_thousandth: dice.whole(10_000) }) },
  {
    title: '10 % and 10 %',
    share: 0.01,
    filter: ({ dice }) => ({ tenth: dice.whole(10), another_tenth: dice.whole(10) }),
  },
  { title: 'near, 12.5 %', share: 1 / 8, filter: ({ region }) => ({ continent: region >> 4 }) },
  { title: 'near, 0.8 %', share: 1 / 128, filter: ({ region }) => ({ region }) },
  { title: 'far, 12.5 %', share: 1 / 8, filter: ({ regions }) => ({ continent: regions.at(-1) >> 4 }) },
  { title: 'far, 0.8 %', share: 1 / 128, filter: ({ regions }) => ({ region: regions.at(-1) }) },
  { title: 'far, 25 %', share: 1 / 4, filter: ({ regions }) => ({ region: farthest(regions, 1 / 4) }) },
  { title: 'far, 50 %', share: 1 / 2, filter: ({ regions }) => ({ region: farthest(regions, 1 / 2) }) },
  { title: 'all but near, 99 %', share: 127 / 128, filter: ({ regions }) => ({ '-region': regions[0] }) },
  { title: 'all but near, 75 %', share: 3 / 4, filter: ({ regions }) => ({ '-region': nearest(regions, 1 / 4) }) },
];

/** Splits a filter into conditions: the values for each column, and whether they are excluded. */
export function conditions(filter) {
  return Object.entries(filter).map(([name, value]) => ({
    column: name.replace(/^-/, ''),
    excluded: name.startsWith('-'),
    values: [value].flat(),
  }));
}

/** Returns a function that tells whether the document with a number passes a filter. */
export function passes(columns, filter) {
  const wanted = conditions(filter).map(({ column, excluded, values }) => ({
    at: FILTER_COLUMNS.indexOf(column),
    excluded,
    values: new Set(values),
  }));
  return (number) =>
    wanted.every(({ at, excluded, values }) => values.has(columns[number * FILTER_COLUMNS.length + at]) !== excluded);
}
