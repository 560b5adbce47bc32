import { createKernel, createMemory } from '../kernel.ts';
import type { Kernel } from '../plain-kernel.ts';
import { HALVES } from './halves.ts';

/** Words of a half of the bits, and of both halves. */
const HALF_WORDS = 256;
export const WORDS = HALF_WORDS ** 2;
const HALF_BYTES = 16;
/** Nearest words of each half that are combined. */
const NEAREST = 8;

/** Codes that one call of the kernel compares. */
export const MAX_CODES = 8_192;
const HALVES_AT = 0;
const QUERY_AT = HALVES_AT + HALF_WORDS * HALF_BYTES;
const CODES_AT = QUERY_AT + 64;
const MAX_CODE_BYTES = 32;
const OUT_AT = CODES_AT + MAX_CODES * MAX_CODE_BYTES;

/**
 * Compares bits of points. The word of a point is the nearest typical half for each half of its bits (an inverted
 * multi-index, Babenko and Lempitsky 2012): 65,536 words of which 256 halves are stored.
 */
export class BitComparer {
  readonly #memory = createMemory(OUT_AT + 4 * MAX_CODES + 64);
  readonly #kernel: Kernel = createKernel(this.#memory);
  readonly #bytes = new Uint8Array(this.#memory.buffer);
  readonly #found = new Uint32Array(this.#memory.buffer, OUT_AT, MAX_CODES);

  constructor() {
    this.#bytes.set(Buffer.from(HALVES, 'base64'), HALVES_AT);
  }

  /** The number of the word of a point, from its bits at an index. */
  wordOf(bits: Uint32Array, at: number): number {
    return (this.#nearestHalf(bits, at) << 8) | this.#nearestHalf(bits, at + 4);
  }

  /** The nearest words of a point, nearest first. */
  wordsNear(bits: Uint32Array, at: number, count: number): number[] {
    const firsts = this.#nearestHalves(bits, at, NEAREST);
    const seconds = this.#nearestHalves(bits, at + 4, NEAREST);
    return firsts
      .flatMap((first) =>
        seconds.map((second) => ({
          word: (first.half << 8) | second.half,
          distance: first.distance + second.distance,
        })),
      )
      .sort((a, b) => a.distance - b.distance || a.word - b.word)
      .slice(0, count)
      .map(({ word }) => word);
  }

  /**
   * @param words of 32 bits of a code
   * @returns for each code with at most so many different bits its position times 512, plus their number. Valid until
   * the next call
   */
  near(codes: Uint32Array, words: number, query: Uint32Array, queryFrom: number, most: number): Uint32Array {
    const bytes = this.#bytes;
    const count = codes.length / words;
    bytes.set(new Uint8Array(query.buffer, query.byteOffset + 4 * queryFrom, 4 * words), QUERY_AT);
    bytes.set(new Uint8Array(codes.buffer, codes.byteOffset, codes.byteLength), CODES_AT);
    return this.#found.subarray(0, this.#kernel.nearCodes(CODES_AT, 4 * words, count, QUERY_AT, most, OUT_AT));
  }

  #nearestHalf(bits: Uint32Array, at: number): number {
    this.#compareHalves(bits, at);
    let least = 0xffffffff;
    for (let half = 0; half < HALF_WORDS; half++) {
      // The distance above the position: the least one, and of these the first.
      const one = this.#found[half] as number;
      const key = (one & 511) * HALF_WORDS + (one >>> 9);
      if (key < least) least = key;
    }
    return least % HALF_WORDS;
  }

  #compareHalves(bits: Uint32Array, at: number): void {
    this.#bytes.set(new Uint8Array(bits.buffer, bits.byteOffset + 4 * at, HALF_BYTES), QUERY_AT);
    this.#kernel.nearCodes(HALVES_AT, HALF_BYTES, HALF_WORDS, QUERY_AT, 8 * HALF_BYTES, OUT_AT);
  }

  #nearestHalves(bits: Uint32Array, at: number, count: number): { half: number; distance: number }[] {
    this.#compareHalves(bits, at);
    const best: { half: number; distance: number }[] = [];
    for (let half = 0; half < HALF_WORDS; half++) {
      const distance = (this.#found[half] as number) & 511;
      if (best.length === count && distance >= (best[count - 1] as { distance: number }).distance) continue;
      let place = best.length;
      while (place > 0 && (best[place - 1] as { distance: number }).distance > distance) place--;
      best.splice(place, 0, { half, distance });
      if (best.length > count) best.pop();
    }
    return best;
  }
}
