import { type Bits, bitsBytes, clearBit, createBits, grownBits, setBit } from './bits.ts';

/** Value of `to` for a row that no commit has ended. */
const LIVE = 0xffff_ffff;
const EMPTY = -1;
const GROWTH = 1.25;

/**
 * The rows of documents and which commits see them. A row is identified by its position in this table; all other data
 * of the row (codes of its vectors, bits of filters) has the same position.
 */
export class RowTable {
  #count = 0;
  #docs = new Float64Array(1_024);
  #from = new Uint32Array(1_024);
  #to = new Uint32Array(1_024);
  /** An open-addressing hash table: from document number to position. */
  #slots = new Int32Array(slotsFor(1_024)).fill(EMPTY);
  /** The rows that no commit has ended. */
  #live: Bits = createBits(1_024);
  #liveCount = 0;
  #seen: Bits = createBits(0);

  get count(): number {
    return this.#count;
  }

  /** How many rows the current commit does not see. */
  get dead(): number {
    return this.#count - this.#liveCount;
  }

  get bytes(): number {
    return this.#docs.byteLength + 2 * this.#from.byteLength + this.#slots.byteLength + 2 * this.#live.byteLength;
  }

  /** Maximum bytes for a number of rows. */
  static bytesFor(rows: number): number {
    const capacity = Math.ceil(Math.max(rows, 1_024) * GROWTH);
    return 16 * capacity + 4 * slotsFor(capacity) + 2 * bitsBytes(capacity);
  }

  /** The documents of all rows. */
  get docs(): Float64Array {
    return this.#docs.subarray(0, this.#count);
  }

  docOf(row: number): number {
    return this.#docs[row] as number;
  }

  /** The position of a document; -1 if it is not in the table. */
  rowOf(doc: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash(doc) & mask; ; slot = (slot + 1) & mask) {
      const row = this.#slots[slot] as number;
      if (row === EMPTY || this.#docs[row] === doc) return row;
    }
  }

  /** Adds a document that is visible from commit `from` on. A document that exists stays unchanged. */
  add(doc: number, from: number): void {
    if (this.rowOf(doc) !== EMPTY) return;
    const row = this.#count;
    this.#reserve(row + 1);
    this.#docs[row] = doc;
    this.#count++;
    this.#insert(row);
    this.#from[row] = from;
    this.#to[row] = LIVE;
    setBit(this.#live, row);
    this.#liveCount++;
  }

  /** Ends a document: it is not visible from commit `to` on. */
  expire(doc: number, to: number): void {
    const row = this.rowOf(doc);
    if (row === EMPTY || this.#to[row] !== LIVE) return;
    this.#to[row] = to;
    clearBit(this.#live, row);
    this.#liveCount--;
  }

  /**
   * The rows that a commit sees. The next call reuses the memory.
   * @param isLast whether no later commit has changes here
   */
  visibleAt(commit: number, isLast: boolean): Bits {
    const words = Math.ceil(this.#count / 32);
    if (this.#seen.length !== words) this.#seen = new Uint32Array(words);
    const bits = this.#seen;
    if (isLast) {
      bits.set(this.#live.subarray(0, words));
      return bits;
    }
    bits.fill(0);
    for (let row = 0; row < this.#count; row++) {
      if ((this.#from[row] as number) <= commit && commit < (this.#to[row] as number)) setBit(bits, row);
    }
    return bits;
  }

  /** The live rows in ascending order: those that remain after the dead rows are removed. */
  liveRows(): Uint32Array {
    const rows = new Uint32Array(this.#liveCount);
    let count = 0;
    for (let row = 0; row < this.#count; row++) if (this.#to[row] === LIVE) rows[count++] = row;
    return rows;
  }

  /** Keeps only these rows, at positions in the given order. */
  retain(rows: Uint32Array): void {
    const [docs, from] = [this.#docs, this.#from];
    this.#count = 0;
    this.#liveCount = 0;
    const capacity = Math.max(1_024, rows.length);
    this.#docs = new Float64Array(capacity);
    this.#from = new Uint32Array(capacity);
    this.#to = new Uint32Array(capacity);
    this.#live = createBits(capacity);
    this.#slots = new Int32Array(slotsFor(capacity)).fill(EMPTY);
    for (const row of rows) this.add(docs[row] as number, from[row] as number);
  }

  #reserve(count: number): void {
    if (count <= this.#docs.length) return;
    const capacity = Math.ceil(count * GROWTH);
    this.#docs = copyInto(this.#docs, new Float64Array(capacity));
    this.#from = copyInto(this.#from, new Uint32Array(capacity));
    this.#to = copyInto(this.#to, new Uint32Array(capacity));
    this.#live = grownBits(this.#live, capacity);
    if (slotsFor(capacity) <= this.#slots.length) return;
    this.#slots = new Int32Array(slotsFor(capacity)).fill(EMPTY);
    for (let row = 0; row < this.#count; row++) this.#insert(row);
  }

  #insert(row: number): void {
    const mask = this.#slots.length - 1;
    let slot = hash(this.#docs[row] as number) & mask;
    while (this.#slots[slot] !== EMPTY) slot = (slot + 1) & mask;
    this.#slots[slot] = row;
  }
}

/** A power of two that leaves at least a third of the slots free. */
function slotsFor(rows: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1_024, rows) * 1.5));
}

/** Chooses the thread that holds a document. The matches of any filter are spread evenly over the threads. */
export function threadOf(doc: number, threads: number): number {
  // Hash again: if the same bits chose the thread and the slot, a thread would use only few of its slots.
  const own = hash(doc);
  return (Math.imul(own ^ (own >>> 16), 0x45d9f3b) >>> 8) % threads;
}

/** Multiplicative hashing (Knuth 6.4) of a whole number below 2^53. */
function hash(doc: number): number {
  const mixed = Math.imul(doc | 0, 0x9e3779b1) ^ Math.imul((doc / 0x1_0000_0000) | 0, 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** Copies an array into a larger one, and returns the larger one. */
export function copyInto<T extends Float64Array | Uint32Array | Uint16Array>(from: T, to: T): T {
  to.set(from as never);
  return to;
}
