import { grown } from './row-table.ts';

/** A column may have so many different values: their ordinals take two bytes. */
export const MOST_ORDINALS = 0xffff;

/**
 * Which value of one column each row has, as the ordinal of that value (doc values of Lucene): 0 where it has none. What
 * filters by values match is found by one pass over them.
 */
export class DocValues {
  #ordinals = new Uint16Array(1_024);

  get bytes(): number {
    return this.#ordinals.byteLength;
  }

  /** @param rows all that there are: room is made for them at once */
  set(row: number, ordinal: number, rows: number): void {
    if (row >= this.#ordinals.length) {
      this.#ordinals = grown(this.#ordinals, new Uint16Array(Math.ceil(1.25 * Math.max(rows, row + 1))));
    }
    this.#ordinals[row] = ordinal;
  }

  /** Calls back with each row whose value is wanted. @param wanted 1 or 0 for each ordinal; 0 for those behind */
  forEachWith(wanted: Uint8Array, take: (row: number) => void): void {
    const ordinals = this.#ordinals;
    for (let row = 0; row < ordinals.length; row++) {
      const ordinal = ordinals[row] as number;
      if (ordinal !== 0 && wanted[ordinal] === 1) take(row);
    }
  }

  /** These rows alone, in the order in which they are given. */
  kept(rows: Uint32Array): DocValues {
    const kept = new DocValues();
    for (const [row, other] of rows.entries()) kept.set(row, this.#ordinals[other] ?? 0, rows.length);
    return kept;
  }
}
