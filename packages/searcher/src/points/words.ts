import { createKernel, createMemory, type Kernel } from '../kernel.ts';
import { HALVES } from './halves.ts';

/** Words of a half of the bits, and of both halves. */
const HALF_WORDS = 256;
export const WORDS = HALF_WORDS ** 2;
const HALF_BYTES = 8;
/** Nearest words of each half that are combined. */
const NEAREST = 8;

/** Points that are held. */
const MAX_POINTS = 8_192;
const POINT_WORDS = 4;
const HALVES_AT = 0;
const QUERY_AT = HALVES_AT + HALF_WORDS * HALF_BYTES;
const CODES_AT = QUERY_AT + 64;
const OUT_AT = CODES_AT + 4 * POINT_WORDS * MAX_POINTS;

/**
 * Compares bits of points. The word of a point is the nearest typical half for each half of its bits (an inverted
 * multi-index, Babenko and Lempitsky 2012): 65,536 words of which 256 halves are stored.
 */
export class BitComparer {
  readonly #memory = createMemory(OUT_AT + 4 * MAX_POINTS + 64);
  readonly #kernel: Kernel = createKernel(this.#memory);
  readonly #bytes = new Uint8Array(this.#memory.buffer);
  readonly #codes = new Uint32Array(this.#memory.buffer, CODES_AT, POINT_WORDS * MAX_POINTS);
  readonly #query = new Uint32Array(this.#memory.buffer, QUERY_AT, POINT_WORDS);
  /** Valid until the next call. */
  readonly found = new Uint32Array(this.#memory.buffer, OUT_AT, MAX_POINTS);
  /** How many points. */
  #held = 0;

  constructor() {
    this.#bytes.set(Buffer.from(HALVES, 'base64'), HALVES_AT);
  }

  /** The number of the word of a point, from its bits at an index. */
  wordOf(bits: Uint32Array, at: number): number {
    const first = this.#nearestHalves(bits, at, 1)[0] as number;
    const second = this.#nearestHalves(bits, at + 2, 1)[0] as number;
    return ((first & 255) << 8) | (second & 255);
  }

  /** Writes the nearest words of a point, nearest first. */
  wordsNear(bits: Uint32Array, at: number, into: Uint16Array): void {
    FIRSTS.set(this.#nearestHalves(bits, at, NEAREST));
    const seconds = this.#nearestHalves(bits, at + 2, NEAREST);
    let count = 0;
    for (let i = 0; i < NEAREST; i++) {
      const first = FIRSTS[i] as number;
      // The others are behind as many as are wanted.
      const some = Math.min(NEAREST, Math.floor(into.length / (i + 1)));
      for (let j = 0; j < some; j++) {
        const second = seconds[j] as number;
        const word = ((first & 255) << 8) | (second & 255);
        SORTED[count++] = (((first >>> 8) + (second >>> 8)) << 16) | word;
      }
    }
    into.set(SORTED.subarray(0, count).sort().subarray(0, into.length));
  }

  /** Holds points to compare, in place of others. */
  hold(bits: Uint32Array): void {
    this.#codes.set(bits);
    this.#held = bits.length / POINT_WORDS;
  }

  /**
   * Compares the points that are held with one of a query. What it finds is in {@link found}: for each with at most so
   * many different bits its position times 512, plus their number.
   *
   * @returns how many are found
   */
  near(query: Uint32Array, at: number, most: number): number {
    for (let i = 0; i < POINT_WORDS; i++) this.#query[i] = query[at + i] as number;
    return this.#kernel.nearCodes(CODES_AT, 4 * POINT_WORDS, this.#held, QUERY_AT, most, OUT_AT);
  }

  /** The nearest halves, nearest first: 256 times the distance of each, plus its number. Valid until the next call. */
  #nearestHalves(bits: Uint32Array, at: number, count: number): Uint32Array {
    for (let i = 0; i < HALF_BYTES / 4; i++) this.#query[i] = bits[at + i] as number;
    this.#kernel.nearestCodes(HALVES_AT, HALF_WORDS, QUERY_AT, count, OUT_AT);
    return count === 1 ? this.found : this.found.subarray(0, count);
  }
}

const FIRSTS = new Uint32Array(NEAREST);
/** Combinations of the nearest halves. */
const SORTED = new Uint32Array(NEAREST ** 2);
