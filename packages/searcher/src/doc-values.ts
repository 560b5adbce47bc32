import { grown } from './row-table.ts';

/**
 * The value of one column for each row, as the ordinal of the value (doc values of Lucene): 1 to 65,535, or 0 if the row
 * has none. A filter by value is computed in one pass over all rows.
 */
export class DocValues {
  #ordinals = new Uint16Array(1_024);

  get bytes(): number {
    return this.#ordinals.byteLength;
  }

  /** @param rows number of all rows: memory for all of them is allocated immediately */
  set(row: number, ordinal: number, rows: number): void {
    if (row >= this.#ordinals.length) {
      this.#ordinals = grown(this.#ordinals, new Uint16Array(Math.ceil(1.25 * Math.max(rows, row + 1))));
    }
    this.#ordinals[row] = ordinal;
  }

  /**
   * Calls back with each row whose value is wanted. @param wanted 1 or 0 for each ordinal; 0 for ordinals beyond its
   * end
   */
  forEachWith(wanted: Uint8Array, take: (row: number) => void): void {
    const ordinals = this.#ordinals;
    for (let row = 0; row < ordinals.length; row++) {
      const ordinal = ordinals[row] as number;
      if (ordinal !== 0 && wanted[ordinal] === 1) take(row);
    }
  }

  /** A copy with only these rows, in the given order. */
  kept(rows: Uint32Array): DocValues {
    const kept = new DocValues();
    for (const [row, other] of rows.entries()) kept.set(row, this.#ordinals[other] ?? 0, rows.length);
    return kept;
  }
}
