import { createDice } from '../lib/random.mjs';
import { FILTER_COLUMNS } from './collection.mjs';
import { nearestRows, rowAt, squaredDistance, toRows } from './rows.mjs';

/** What is asked for: pictures that are not in the collection, evenly; some twice where they are few. */
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
      farRegion: farthest(model.regions.centers, rowAt(vectors, at)),
      dice: createDice(1000 + i),
    };
  });
}

/** The region whose pictures look least alike. Empty ones, which few pictures leave, do not count. */
function farthest(centers, vector) {
  const one = toRows([vector]);
  let best = 0;
  let far = -1;
  for (let region = 0; region < centers.count; region++) {
    if (rowAt(centers, region).every((value) => value === 0)) continue;
    const distance = squaredDistance(centers, region, one, 0);
    if (distance > far) [best, far] = [region, distance];
  }
  return best;
}

/**
 * What searches filter by: `filter` gives the values that a query asks for, by column; all must be equal.
 *
 * @type {{ title: string, share: number, filter: (query: any) => Record<string, number> }[]}
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
  { title: 'far, 12.5 %', share: 1 / 8, filter: ({ farRegion }) => ({ continent: farRegion >> 4 }) },
  { title: 'far, 0.8 %', share: 1 / 128, filter: ({ farRegion }) => ({ region: farRegion }) },
];

/** Which documents pass a filter, by number. */
export function passes(columns, filter) {
  const wanted = Object.entries(filter).map(([name, value]) => [FILTER_COLUMNS.indexOf(name), value]);
  return (number) => wanted.every(([at, value]) => columns[number * FILTER_COLUMNS.length + at] === value);
}
