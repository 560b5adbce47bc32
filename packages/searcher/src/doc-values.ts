import type { Bits } from './bits.ts';
import { copyInto } from './row-table.ts';

/** The greatest ordinal that 16 bits hold. */
const NARROW = 65_535;

/**
 * The value of one column for each row, as the ordinal of the value (doc values of Lucene): from 1 on, or 0 if the row
 * has none. A filter by value is computed in one pass over all rows.
 */
export class DocValues {
  /** 16 bits for each row, until an ordinal needs more. */
  #ordinals: Uint16Array | Uint32Array = new Uint16Array(1_024);
  greatest = 0;

  get bytes(): number {
    return this.#ordinals.byteLength;
  }

  /** The ordinal of a row; 0 if it has no value. */
  at(row: number): number {
    return this.#ordinals[row] ?? 0;
  }

  /** @param rows number of all rows: memory for all of them is allocated immediately */
  set(row: number, ordinal: number, rows: number): void {
    if (ordinal > NARROW && this.#ordinals instanceof Uint16Array) this.#ordinals = Uint32Array.from(this.#ordinals);
    if (row >= this.#ordinals.length) {
      const length = Math.ceil(1.25 * Math.max(rows, row + 1));
      this.#ordinals =
        this.#ordinals instanceof Uint16Array
          ? copyInto(this.#ordinals, new Uint16Array(length))
          : copyInto(this.#ordinals, new Uint32Array(length));
    }
    this.#ordinals[row] = ordinal;
    if (ordinal > this.greatest) this.greatest = ordinal;
  }

  /**
   * Adds the rows whose value is wanted. @param wanted 1 or 0 for each ordinal; 0 for ordinals beyond its end
   * @param bits the bits with room for all rows
   */
  select(wanted: Uint8Array, bits: Bits): void {
    const table = new Uint8Array(Math.max(wanted.length, this.greatest + 1));
    table.set(wanted);
    // Rows without a value have the ordinal 0.
    table[0] = 0;
    const ordinals = this.#ordinals;
    const rows = Math.min(ordinals.length, bits.length * 32);
    // Without branches, whole words at a time: no value is faster or slower than others.
    for (let first = 0; first < rows; first += 32) {
      const end = Math.min(32, rows - first);
      let word = 0;
      for (let i = 0; i < end; i++) word |= (table[ordinals[first + i] as number] as number) << i;
      bits[first >>> 5] = (bits[first >>> 5] as number) | word;
    }
  }

  /** A copy with only these rows, in the given order. */
  copyOf(rows: Uint32Array): DocValues {
    const kept = new DocValues();
    for (const [row, other] of rows.entries()) kept.set(row, this.at(other), rows.length);
    return kept;
  }
}
