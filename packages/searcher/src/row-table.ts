import { type Bits, bitsBytes, clearBit, createBits, setBit, withRoom } from './bits.ts';

/** `to` of a row that no commit has replaced. */
const LIVE = 0xffff_ffff;
const EMPTY = -1;
const GROWTH = 1.25;

/**
 * Which rows of documents there are, and which commits see them. A row is known by its place here in everything else
 * that is kept of it: codes of its vectors, bits of the filters that match it.
 */
export class RowTable {
  #count = 0;
  #docs = new Float64Array(1_024);
  #from = new Uint32Array(1_024);
  #to = new Uint32Array(1_024);
  /** An open hash table: places by document number. */
  #slots = new Int32Array(slotsFor(1_024)).fill(EMPTY);
  /** The rows that no commit has ended. */
  #live: Bits = createBits(1_024);
  #liveCount = 0;

  get count(): number {
    return this.#count;
  }

  /** Rows that no commit from now on sees. */
  get dead(): number {
    return this.#count - this.#liveCount;
  }

  get bytes(): number {
    return this.#docs.byteLength + 2 * this.#from.byteLength + this.#slots.byteLength + this.#live.byteLength;
  }

  /** Maximum bytes of a number of rows. */
  static bytesFor(rows: number): number {
    const room = Math.ceil(Math.max(rows, 1_024) * GROWTH);
    return 16 * room + 4 * slotsFor(room) + bitsBytes(room);
  }

  /** The documents of all rows. */
  get docs(): Float64Array {
    return this.#docs.subarray(0, this.#count);
  }

  docOf(row: number): number {
    return this.#docs[row] as number;
  }

  /** The place of a document; -1 when it is not here. */
  rowOf(doc: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash(doc) & mask; ; slot = (slot + 1) & mask) {
      const row = this.#slots[slot] as number;
      if (row === EMPTY || this.#docs[row] === doc) return row;
    }
  }

  /** Adds a document that commits from `from` on see; one that is here stays as it is. */
  add(doc: number, from: number): void {
    if (this.rowOf(doc) !== EMPTY) return;
    const row = this.#count;
    this.#makeRoom(row + 1);
    this.#docs[row] = doc;
    this.#from[row] = from;
    this.#to[row] = LIVE;
    this.#count++;
    this.#insert(row);
    setBit(this.#live, row);
    this.#liveCount++;
  }

  /** Ends a document: commits from `to` on do not see it. */
  end(doc: number, to: number): void {
    const row = this.rowOf(doc);
    if (row === EMPTY || this.#to[row] !== LIVE) return;
    this.#to[row] = to;
    clearBit(this.#live, row);
    this.#liveCount--;
  }

  /** The rows that a commit sees, as bits of one's own. @param isLast whether all changes that came are its own or earlier */
  seenBy(commit: number, isLast: boolean): Bits {
    const words = Math.ceil(this.#count / 32);
    if (isLast) return this.#live.slice(0, words);
    const bits = new Uint32Array(words);
    for (let row = 0; row < this.#count; row++) {
      if ((this.#from[row] as number) <= commit && commit < (this.#to[row] as number)) setBit(bits, row);
    }
    return bits;
  }

  /** The live rows, rising: what is left when the dead are removed. */
  liveRows(): Uint32Array {
    const rows = new Uint32Array(this.#liveCount);
    let count = 0;
    for (let row = 0; row < this.#count; row++) if (this.#to[row] === LIVE) rows[count++] = row;
    return rows;
  }

  /** Keeps some rows, which get the places in the order in which they are given. */
  keep(rows: Uint32Array): void {
    const [docs, from] = [this.#docs, this.#from];
    this.#count = 0;
    this.#liveCount = 0;
    const room = Math.max(1_024, rows.length);
    this.#docs = new Float64Array(room);
    this.#from = new Uint32Array(room);
    this.#to = new Uint32Array(room);
    this.#live = createBits(room);
    this.#slots = new Int32Array(slotsFor(room)).fill(EMPTY);
    for (const row of rows) this.add(docs[row] as number, from[row] as number);
  }

  #makeRoom(count: number): void {
    if (count <= this.#docs.length) return;
    const room = Math.ceil(count * GROWTH);
    this.#docs = grown(this.#docs, new Float64Array(room));
    this.#from = grown(this.#from, new Uint32Array(room));
    this.#to = grown(this.#to, new Uint32Array(room));
    this.#live = withRoom(this.#live, room);
    if (slotsFor(room) <= this.#slots.length) return;
    this.#slots = new Int32Array(slotsFor(room)).fill(EMPTY);
    for (let row = 0; row < this.#count; row++) this.#insert(row);
  }

  #insert(row: number): void {
    const mask = this.#slots.length - 1;
    let slot = hash(this.#docs[row] as number) & mask;
    while (this.#slots[slot] !== EMPTY) slot = (slot + 1) & mask;
    this.#slots[slot] = row;
  }
}

/** A power of two with a third of it free at least. */
function slotsFor(rows: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(1_024, rows) * 1.5));
}

/** Which of some threads has a document: any filter is spread evenly over them. */
export function threadOf(doc: number, threads: number): number {
  // Mixed once more: if its bits were some of those that choose a slot, a thread would use few of its slots.
  const own = hash(doc);
  return (Math.imul(own ^ (own >>> 16), 0x45d9f3b) >>> 8) % threads;
}

/** Multiplicative hashing (Knuth 6.4) of a whole number below 2^53. */
function hash(doc: number): number {
  const mixed = Math.imul(doc | 0, 0x9e3779b1) ^ Math.imul((doc / 0x1_0000_0000) | 0, 0x85ebca6b);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}

/** A larger array with what is in another. */
export function grown<T extends Float64Array | Uint32Array | Uint16Array>(from: T, to: T): T {
  to.set(from as never);
  return to;
}
