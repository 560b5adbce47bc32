import { createRandom } from '@akin/domain/random';
import type { Kernel } from './plain-kernel.ts';

/**
 * A rotation of vectors by random signs and Walsh-Hadamard transforms (Ailon and Chazelle 2009): it spreads what a
 * vector has over all its numbers, so that few bits of each say much. Lengths and distances stay.
 *
 * A transform takes a power of two numbers: where the vector is longer, one takes its head and one its tail, twice.
 */
export class Rotation {
  readonly #length: number;
  readonly #starts: readonly number[];
  readonly #signsAt: number;

  /** Bytes that rotations of such vectors keep in memory. @param dimensions of the vectors, 4 or more */
  static bytes(dimensions: number): number {
    return 4 * 4 * 2 ** Math.floor(Math.log2(dimensions));
  }

  /**
   * @param signsAt where its signs are kept: {@link Rotation.bytes} of the memory of the kernel
   * @param seed the same one gives the same rotation
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
