import { createRandom } from '@akin/domain/random';
import type { Kernel } from './kernel.ts';

/**
 * A random rotation of vectors by random signs and Walsh-Hadamard transforms (Ailon and Chazelle 2009). It spreads the
 * information of a vector over all its numbers, so that a few bits of each number are enough. Lengths and distances do
 * not change.
 * A transform needs a power of two numbers. For other lengths, one transform covers the start of the vector and another
 * one its end; this is done twice.
 */
export class Rotation {
  readonly #length: number;
  readonly #starts: readonly number[];
  readonly #signsAt: number;

  /** Bytes of memory that a rotation of such vectors needs. @param dimensions those of the vectors, 4 or more */
  static bytes(dimensions: number): number {
    return 4 * 4 * 2 ** Math.floor(Math.log2(dimensions));
  }

  /**
   * @param signsAt address of its signs: {@link Rotation.bytes} bytes in the memory of the kernel
   * @param seed the same seed gives the same rotation
   */
  constructor(dimensions: number, seed: number, memory: WebAssembly.Memory, signsAt: number) {
    const random = createRandom(seed);
    this.#length = 2 ** Math.floor(Math.log2(dimensions));
    const rest = dimensions - this.#length;
    this.#starts = rest === 0 ? [0] : [0, rest, 0, rest];
    this.#signsAt = signsAt;
    const signs = new Float32Array(memory.buffer, signsAt, this.#starts.length * this.#length);
    const scale = 1 / Math.sqrt(this.#length);
    for (let i = 0; i < signs.length; i++) signs[i] = random() < 0.5 ? -scale : scale;
  }

  /** Rotates the vector at an address in place. */
  apply(kernel: Kernel, at: number): void {
    for (const [i, start] of this.#starts.entries()) {
      kernel.rotate(at + 4 * start, this.#signsAt + 4 * i * this.#length, this.#length);
    }
  }
}
