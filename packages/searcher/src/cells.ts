import { type Bits, createBits, grownBits, hasBit, setBit } from './bits.ts';

/** Approximate bytes of memory of a row, and additional bytes of a cell. */
const ROW_BYTES = 12;
const CELL_BYTES = 100;

/** A document and its cell. */
export type AssignedCell = readonly [doc: number, cell: number];

/**
 * Assigns some rows of a collection to the cells of an inverted file (IVF: Jégou, Douze and Schmid 2011): a vector is
 * compared with the rows of a few cells instead of all rows. The caller decides which row belongs to which cell.
 */
export class Cells {
  readonly #rows = new Map<number, number[]>();
  #rowsWithCell: Bits = createBits(1_024);
  #count = 0;

  get bytes(): number {
    return ROW_BYTES * this.#count + CELL_BYTES * this.#rows.size + this.#rowsWithCell.byteLength;
  }

  /** A row that already has a cell keeps it. */
  assign(row: number, cell: number): void {
    this.#rowsWithCell = grownBits(this.#rowsWithCell, row + 1);
    if (hasBit(this.#rowsWithCell, row)) return;
    setBit(this.#rowsWithCell, row);
    this.#count++;
    const rows = this.#rows.get(cell);
    if (rows === undefined) this.#rows.set(cell, [row]);
    else rows.push(row);
  }

  /**
   * The rows of some different cells.
   * @param rows receives them, those of one cell in ascending order
   * @returns how many
   */
  rowsIn(cells: Int32Array, rows: Uint32Array): number {
    let count = 0;
    for (const cell of cells) {
      const own = this.#rows.get(cell);
      if (own === undefined) continue;
      for (let i = 0; i < own.length; i++) rows[count++] = own[i] as number;
    }
    return count;
  }
}
