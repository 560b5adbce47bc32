// Stores many vectors of one length one after the other, so that loops over them run at full speed.

/**
 * @typedef {{ width: number, count: number, values: Float32Array }} Rows
 */

/** @param {ArrayLike<number>[]} vectors @returns {Rows} */
export function toRows(vectors) {
  const width = vectors[0]?.length ?? 0;
  const values = new Float32Array(vectors.length * width);
  for (const [i, vector] of vectors.entries()) values.set(vector, i * width);
  return { width, count: vectors.length, values };
}

/** @param {Rows} rows */
export const rowAt = ({ width, values }, i) => values.subarray(i * width, (i + 1) * width);

/** Squared distance between row `i` of one and row `j` of another. */
export function squaredDistance({ width, values: a }, i, { values: b }, j) {
  let sum = 0;
  for (let at = i * width, other = j * width, end = at + width; at < end; at++, other++) {
    const difference = a[at] - b[other];
    sum += difference * difference;
  }
  return sum;
}

/**
 * Finds the rows nearest to row `i` of `from`, by ascending distance. Rows of equal distance are in the order of their
 * number.
 *
 * @param {Rows} rows
 * @param {Rows} from
 * @param {number} most
 * @param {(j: number) => boolean} counts whether to compare a row
 * @returns {{ row: number, distance: number }[]} with the squared distance
 */
export function nearestRows(rows, from, i, most, counts = () => true) {
  const best = [];
  let worst = Number.POSITIVE_INFINITY;
  for (let row = 0; row < rows.count; row++) {
    if (!counts(row)) continue;
    const distance = squaredDistance(from, i, rows, row);
    if (distance >= worst) continue;
    let at = best.length;
    while (at > 0 && best[at - 1].distance > distance) at--;
    best.splice(at, 0, { row, distance });
    if (best.length > most) best.pop();
    if (best.length === most) worst = best[most - 1].distance;
  }
  return best;
}
