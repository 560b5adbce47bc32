import { COPY_SCORE, distance, distanceAt, nearestCells } from '@akin/modules/vectors';

/**
 * Number of nearest cells of a picture to search: 8 contain 98 of 100 of its copies, and one in twenty of all others.
 */
const CELLS = 8;

/**
 * Counts pictures that are near-duplicates of an earlier one of the same run. A picture is compared only with those in
 * its nearest cells, so that a hundred thousand pictures take minutes, not hours.
 */
export class NearDuplicates {
  #count = 0;
  readonly #farthest = distanceAt('duplicate', COPY_SCORE);
  readonly #byCell = new Map<number, Float32Array[]>();

  get count(): number {
    return this.#count;
  }

  /** @param descriptor The duplicate descriptor, unit length. */
  add(descriptor: Float32Array): void {
    const near = nearestCells('duplicate', descriptor, CELLS);
    const isCopy = (other: Float32Array) => distance(descriptor, other) <= this.#farthest;
    if (near.some((cell) => this.#byCell.get(cell)?.some(isCopy))) this.#count++;
    const home = near[0];
    if (home === undefined) return;
    const members = this.#byCell.get(home);
    if (members) members.push(descriptor);
    else this.#byCell.set(home, [descriptor]);
  }
}
