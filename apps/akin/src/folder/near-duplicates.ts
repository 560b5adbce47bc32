import { COPY_SCORE, scoreOf } from '@akin/modules/vectors';

/** The cells nearest to a picture that are looked in: 8 hold 98 of 100 of its copies, and one in twenty of all others. */
const CELLS = 8;

/**
 * Counts pictures that are near-duplicates of an earlier one of the same run. A new one is compared only with those in
 * its nearest cells, so that a hundred thousand pictures cost minutes, not hours.
 */
export class NearDuplicates {
  #count = 0;
  readonly #byCell = new Map<number, Float32Array[]>();

  get count(): number {
    return this.#count;
  }

  /**
   * @param descriptor The duplicate descriptor, unit length.
   * @param cells The nearest cells of the picture, nearest first.
   */
  add(descriptor: Float32Array, cells: Uint16Array): void {
    const near = cells.subarray(0, CELLS);
    if (near.some((cell) => this.#byCell.get(cell)?.some((other) => isCopy(descriptor, other)))) this.#count++;
    const home = near[0];
    if (home === undefined) return;
    const members = this.#byCell.get(home);
    if (members) members.push(descriptor);
    else this.#byCell.set(home, [descriptor]);
  }
}

function isCopy(a: Float32Array, b: Float32Array): boolean {
  let sum = 0;
  for (let i = 0; i < a.length; i++) {
    const difference = (a[i] as number) - (b[i] as number);
    sum += difference * difference;
  }
  return scoreOf('duplicate', Math.sqrt(sum)) >= COPY_SCORE;
}
