import { createRandom } from '@akin/domain/random';
import { createKernel, createMemory } from './kernel.ts';

/**
 * A rotation of vectors by random signs and Walsh-Hadamard transforms (Ailon and Chazelle 2009): it spreads what a
 * vector has over all its numbers, so that few bits of each say much. Lengths and distances stay.
 *
 * A transform takes a power of two numbers: where the vector is longer, one takes its head and one its tail, twice.
 */
export class Rotation {
  readonly #signs: readonly Float32Array[];
  readonly #starts: readonly number[];
  readonly #length: number;
  readonly #numbers: Float32Array;
  readonly #hadamard: (at: number, length: number) => void;

  /**
   * @param dimensions of the vectors, 1 or more
   * @param seed the same one gives the same rotation
   */
  constructor(dimensions: number, seed: number) {
    const random = createRandom(seed);
    this.#length = 2 ** Math.floor(Math.log2(dimensions));
    const rest = dimensions - this.#length;
    this.#starts = rest === 0 ? [0] : [0, rest, 0, rest];
    this.#signs = this.#starts.map(() => Float32Array.from({ length: dimensions }, () => (random() < 0.5 ? -1 : 1)));
    // Each transform copies its part to the beginning, where the kernel wants it.
    const memory = createMemory(8 * dimensions + 64);
    this.#numbers = new Float32Array(memory.buffer);
    const kernel = createKernel(memory);
    this.#hadamard = this.#length < 4 ? this.#tiny : kernel.hadamard;
  }

  /** Rotates a vector in place. */
  apply(vector: Float32Array): void {
    const length = this.#length;
    const scale = 1 / Math.sqrt(length);
    const part = this.#numbers;
    for (const [i, start] of this.#starts.entries()) {
      const signs = this.#signs[i] as Float32Array;
      for (let k = 0; k < length; k++) {
        part[k] = (vector[start + k] as number) * (signs[start + k] as number) * scale;
      }
      this.#hadamard(0, length);
      for (let k = 0; k < length; k++) vector[start + k] = part[k] as number;
    }
  }

  /** The transform of one or two numbers. */
  readonly #tiny = (_at: number, length: number): void => {
    if (length < 2) return;
    const [a = 0, b = 0] = this.#numbers;
    this.#numbers[0] = a + b;
    this.#numbers[1] = a - b;
  };
}
