import { type Bits, bitsBytes, createBits, forEachBit, grownBits, setBit } from './bits.ts';
import { createKernel, createMemory, type Kernel, memoryBytes } from './kernel.ts';
import { BLOCK_SIZE, FIRST_SEGMENT_SIZE, type RowVisitor } from './segment.ts';

/** Full vectors of up to some ten thousand rows, four bytes a number. */
export class FloatVectors {
  readonly dimensions: number;
  readonly #stride: number;
  #capacity = FIRST_SEGMENT_SIZE;
  #memory: WebAssembly.Memory;
  #kernel: Kernel;
  rowsWithVector: Bits = createBits(FIRST_SEGMENT_SIZE);

  constructor(dimensions: number) {
    this.dimensions = dimensions;
    this.#stride = floatStride(dimensions);
    this.#memory = createMemory(floatBytes(this.#stride, FIRST_SEGMENT_SIZE));
    this.#kernel = createKernel(this.#memory);
  }

  get bytes(): number {
    return this.#memory.buffer.byteLength + this.rowsWithVector.byteLength;
  }

  set(row: number, vector: Float32Array): void {
    if (row >= this.#capacity)
      this.#grow(Math.ceil(Math.max(row + 1, 2 * this.#capacity) / FIRST_SEGMENT_SIZE) * FIRST_SEGMENT_SIZE);
    new Float32Array(this.#memory.buffer, row * this.#stride, this.dimensions).set(vector);
    setBit(this.rowsWithVector, row);
  }

  /** The vector of a row, valid until the next change. */
  get(row: number): Float32Array {
    return new Float32Array(this.#memory.buffer, row * this.#stride, this.dimensions);
  }

  /** Compares rows with a query. The rounding error of sums of f32 is a share of the distance. */
  compare(query: Float32Array, rows: Bits, visit: RowVisitor): void {
    const maskAt = this.#capacity * this.#stride;
    const queryAt = maskAt + this.#capacity / 8;
    const outAt = queryAt + this.#stride;
    const { buffer } = this.#memory;
    const padded = new Float32Array(buffer, queryAt, this.#stride / 4);
    padded.fill(0);
    padded.set(query);
    const out = new Float32Array(buffer, outAt, BLOCK_SIZE);
    const mask = new Uint32Array(buffer, maskAt, this.#capacity / 32);
    setMask(mask, rows);
    for (let first = 0; first < this.#capacity; first += BLOCK_SIZE) {
      const count = Math.min(BLOCK_SIZE, this.#capacity - first);
      this.#kernel.squares(first * this.#stride, this.#stride, count, maskAt + first / 8, queryAt, outAt);
      forEachBit(mask.subarray(first / 32, (first + count) / 32), (i) => {
        const square = out[i] as number;
        visit(first + i, square * 0.9999, square, square * 1.0001 + 1e-12);
      });
    }
  }

  #grow(capacity: number): void {
    const memory = createMemory(floatBytes(this.#stride, capacity));
    new Uint8Array(memory.buffer).set(new Uint8Array(this.#memory.buffer, 0, this.#capacity * this.#stride));
    this.#capacity = capacity;
    this.#memory = memory;
    this.#kernel = createKernel(memory);
    this.rowsWithVector = grownBits(this.rowsWithVector, capacity);
  }
}

/** Copies the bits of rows into a mask; missing rows get 0. */
function setMask(mask: Uint32Array, rows: Bits): void {
  const words = rows.subarray(0, mask.length);
  mask.set(words);
  mask.fill(0, words.length);
}

/** Bytes of a row of floats: a multiple of 16 floats. */
function floatStride(dimensions: number): number {
  return Math.ceil(dimensions / 4) * 16;
}

/** Bytes of rows of floats with the working memory of the kernel. */
function floatBytes(stride: number, capacity: number): number {
  return capacity * stride + capacity / 8 + stride + 4 * BLOCK_SIZE;
}

/** Maximum bytes of {@link FloatVectors} with this many rows: their capacity doubles. */
export function floatsBytes(dimensions: number, rows: number): number {
  return memoryBytes(floatBytes(floatStride(dimensions), Math.max(2 * rows, FIRST_SEGMENT_SIZE))) + bitsBytes(2 * rows);
}
