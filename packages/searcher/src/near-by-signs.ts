import type { Bits } from './bits.ts';
import type { CodedQuery } from './codes.ts';
import type { VectorQuery } from './query.ts';
import { grown } from './row-table.ts';
import { type Codes, distanceOf, placeOf } from './vectors.ts';

/** So many times as many rows are compared where they crowd. */
const CROWD = 20;
/** Signs tell distances with that many deviations of error. */
const DEVIATIONS = 3;

/** Rows that were near when they were looked at, and their distances: grow to the most that any search needs. */
let foundRows = new Uint32Array(65_536);
let foundDistances = new Uint16Array(65_536);

/**
 * The rows whose signs are nearest to those of a query. Signs tell the distance of a row with an error: all are taken
 * whose signs are within some deviations of those of the last one wanted, so that queries around which many rows crowd
 * compare more of them.
 */
export function nearBySigns(codes: Codes, coded: CodedQuery, rows: Bits, query: VectorQuery): Uint32Array {
  const { bits } = codes.coder;
  const histogram = new Uint32Array(bits + 1);
  const reach = (wanted: number) => {
    let sum = 0;
    for (let distance = 0; distance <= bits; distance++) {
      sum += histogram[distance] as number;
      if (sum >= wanted) return distance;
    }
    return bits;
  };
  /** @param deviation of the distance of the last one wanted */
  const boundFor = (last: number, deviation: number) => {
    const widest = reach(CROWD * query.leastCompared);
    const far = Math.min(widest, Math.ceil(last + DEVIATIONS * deviation));
    return Math.max(last, reach(query.leastCompared), far);
  };
  let count = 0;
  codes.nearBySigns(
    coded,
    rows,
    histogram,
    // With more rows all that this hangs on becomes less, but for the deviation, which is never greater than this one.
    () => boundFor(reach(query.wanted), Math.sqrt(bits) / 2),
    (first, found, added) => {
      if (count + added > foundRows.length) {
        const room = 2 * (count + added);
        foundRows = grown(foundRows, new Uint32Array(room));
        foundDistances = grown(foundDistances, new Uint16Array(room));
      }
      for (let i = 0; i < added; i++, count++) {
        foundRows[count] = first + placeOf(found[i] as number);
        foundDistances[count] = distanceOf(found[i] as number);
      }
    },
  );
  const last = reach(query.wanted);
  const bound = boundFor(last, Math.sqrt(last * (1 - last / bits)));
  let total = 0;
  for (let i = 0; i < count; i++)
    if ((foundDistances[i] as number) <= bound) foundRows[total++] = foundRows[i] as number;
  return foundRows.slice(0, total);
}
