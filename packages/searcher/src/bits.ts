/** A bit set: one bit for each row, 32 in a word, lowest first. */
export type Bits = Uint32Array;

export function createBits(rows: number): Bits {
  return new Uint32Array(Math.ceil(rows / 32));
}

/** A bit set that grows gets at most this many times the memory that it needs. */
const GROWTH = 1.25;

/** Maximum bytes of a bit set for a number of rows. */
export function bitsBytes(rows: number): number {
  return Math.ceil((GROWTH * Math.max(rows, 1_024)) / 8);
}

/** Returns the same bits with memory for more rows; the new bits are 0. */
export function grownBits(bits: Bits, rows: number): Bits {
  if (rows <= bits.length * 32) return bits;
  const more = createBits(Math.max(rows, bits.length * 32 * GROWTH));
  more.set(bits);
  return more;
}

export function hasBit(bits: Bits, row: number): boolean {
  return (((bits[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 1;
}

export function setBit(bits: Bits, row: number): void {
  bits[row >>> 5] = (bits[row >>> 5] as number) | (1 << (row & 31));
}

export function clearBit(bits: Bits, row: number): void {
  bits[row >>> 5] = (bits[row >>> 5] as number) & ~(1 << (row & 31));
}

/** Keeps only the bits that are also set in `others`. */
export function intersect(bits: Bits, others: Bits): void {
  for (let i = 0; i < bits.length; i++) bits[i] = (bits[i] as number) & (others[i] ?? 0);
}

/** Clears the bits that are set in `others`. */
export function exclude(bits: Bits, others: Bits): void {
  for (let i = 0; i < bits.length; i++) bits[i] = (bits[i] as number) & ~(others[i] ?? 0);
}

export function countBits(bits: Bits): number {
  let count = 0;
  for (let i = 0; i < bits.length; i++) count += popCount(bits[i] as number);
  return count;
}

/** Calls back with each row whose bit is set, in ascending order. */
export function forEachBit(bits: Bits, call: (row: number) => void): void {
  for (let i = 0; i < bits.length; i++) {
    for (let word = bits[i] as number; word !== 0; word &= word - 1) call(i * 32 + 31 - Math.clz32(word & -word));
  }
}

/** The rows whose bits are set, in ascending order. @param count how many bits are set */
export function rowsOf(bits: Bits, count: number): Uint32Array {
  const rows = new Uint32Array(count);
  let at = 0;
  forEachBit(bits, (row) => {
    rows[at++] = row;
  });
  return rows;
}

export function popCount(word: number): number {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
