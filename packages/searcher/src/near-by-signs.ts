import type { Bits } from './bits.ts';
import type { CodedQuery } from './codes.ts';
import { LEFT_OUT } from './plain-kernel.ts';
import type { VectorQuery } from './query.ts';
import type { Codes } from './vectors.ts';

/** So many times as many rows are compared where they crowd. */
const CROWD = 20;
/** Signs tell distances with that many deviations of error. */
const DEVIATIONS = 3;

/** Grows to the largest collection of the thread. */
let distances = new Uint16Array(0);

/**
 * The rows whose signs are nearest to those of a query. Signs tell the distance of a row with an error: all are taken
 * whose signs are within some deviations of those of the last one wanted, so that queries around which many rows crowd
 * compare more of them.
 */
export function nearBySigns(
  codes: Codes,
  coded: CodedQuery,
  rows: Bits,
  count: number,
  query: VectorQuery,
): Uint32Array {
  const { bits } = codes.coder;
  // The kernel writes whole words of the mask.
  const room = Math.ceil(count / 32) * 32;
  if (distances.length < room) distances = new Uint16Array(Math.ceil((room * 1.2) / 32) * 32);
  const histogram = new Uint32Array(bits + 1);
  distances.fill(LEFT_OUT, 0, count);
  codes.hamming(coded, rows, distances, histogram);
  const reach = (wanted: number) => {
    let sum = 0;
    for (let distance = 0; distance <= bits; distance++) {
      sum += histogram[distance] as number;
      if (sum >= wanted) return distance;
    }
    return bits;
  };
  const last = reach(query.wanted);
  const share = last / bits;
  const deviation = Math.sqrt(bits * share * (1 - share));
  const widest = reach(CROWD * query.leastCompared);
  const far = Math.min(widest, Math.ceil(last + DEVIATIONS * deviation));
  const bound = Math.max(last, reach(query.leastCompared), far);
  let total = 0;
  for (let distance = 0; distance <= bound; distance++) total += histogram[distance] as number;
  const near = new Uint32Array(total);
  let at = 0;
  for (let row = 0; row < count; row++) if ((distances[row] as number) <= bound) near[at++] = row;
  return near;
}
