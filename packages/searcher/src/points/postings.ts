import { createKernel, createMemory, type Kernel, memoryBytes } from '../kernel.ts';
import { copyInto } from '../row-table.ts';
import { WORDS } from './words.ts';

const GROWTH = 1.25;
const BYTES_OF_ADDED = 10;
const BYTES_OF_POINT = 8;
const BYTES_OF_STARTS = 4 * (WORDS + 1);

/** Points are merged with the others of their block when they are more than this share of those, and this many. */
const MAX_ADDED_SHARE = 0.125;
const MIN_MERGED = 65_536;

/** Rows of a block: their numbers in it have 16 bits. */
export const BLOCK_ROWS = 65_536;

/** Signatures that are compared in one call. */
export const MAX_COMPARED = 8_192;
/** Addresses in the memory of postings. The kernel writes 4 bytes more than it finds. */
const QUERY_AT = 0;
const FOUND_AT = 16;
const SIGNATURES_AT = FOUND_AT + 4 * MAX_COMPARED + 16;

/** A point in memory, without its word. */
interface StoredPoint {
  readonly signature: number;
  /** See {@link ownerOf}. */
  readonly owner: number;
}

/** The row of a point within its block, and its place (see `roughPlaceOf`), in one number: they are read together. */
export function ownerOf(row: number, place: number): number {
  return row | (place << 16);
}

export const rowOfOwner = (owner: number) => owner & 0xffff;
export const placeOfOwner = (owner: number) => owner >>> 16;

/**
 * Prefix sums, in place. How many there are of each kind, each at the next position, becomes where each kind begins
 * (counting sort).
 */
export function prefixSums(counts: Uint32Array): void {
  for (let i = 1; i < counts.length; i++) counts[i] = (counts[i] as number) + (counts[i - 1] as number);
}

/** Points in the order in which they were added. */
class AddedPoints {
  count = 0;
  words = new Uint16Array(1_024);
  signatures = new Uint32Array(1_024);
  owners = new Uint32Array(1_024);

  get bytes(): number {
    return BYTES_OF_ADDED * this.words.length;
  }

  add(word: number, { signature, owner }: StoredPoint): void {
    const at = this.count++;
    if (at === this.words.length) this.#grow(Math.ceil(GROWTH * at));
    this.words[at] = word;
    this.signatures[at] = signature;
    this.owners[at] = owner;
  }

  forEach(call: (word: number, at: number) => void): void {
    for (let at = 0; at < this.count; at++) call(this.words[at] as number, at);
  }

  #grow(capacity: number): void {
    this.words = copyInto(this.words, new Uint16Array(capacity));
    this.signatures = copyInto(this.signatures, new Uint32Array(capacity));
    this.owners = copyInto(this.owners, new Uint32Array(capacity));
  }
}

interface Source {
  readonly points: Postings | AddedPoints;
  /** The number of a row in the result; -1 to leave its points out. */
  readonly rowOf: (row: number) => number;
}

const sameRow = (row: number) => row;

/** Points of a block in the order of their words, where the kernel compares them. */
export class Postings {
  /** Where the points of each word begin, and the last ones end. */
  readonly starts = new Uint32Array(WORDS + 1);
  readonly signatures: Uint32Array;
  readonly owners: Uint32Array;
  /** What {@link near} finds: the position after the first one times 512, plus the number of different bits. */
  readonly found: Uint32Array;
  readonly #query: Uint32Array;
  readonly #kernel: Kernel;

  constructor(count: number) {
    const memory = createMemory(SIGNATURES_AT + BYTES_OF_POINT * count);
    this.#kernel = createKernel(memory);
    this.#query = new Uint32Array(memory.buffer, QUERY_AT, 1);
    this.found = new Uint32Array(memory.buffer, FOUND_AT, MAX_COMPARED);
    this.signatures = new Uint32Array(memory.buffer, SIGNATURES_AT, count);
    this.owners = new Uint32Array(memory.buffer, SIGNATURES_AT + 4 * count, count);
  }

  get count(): number {
    return this.owners.length;
  }

  get bytes(): number {
    return BYTES_OF_STARTS + this.signatures.buffer.byteLength;
  }

  /**
   * Compares the signatures of some positions, at most {@link MAX_COMPARED}.
   *
   * @param most the greatest number of different bits
   * @returns how many are found
   */
  near(signature: number, from: number, to: number, most: number): number {
    this.#query[0] = signature;
    return this.#kernel.nearCodes(SIGNATURES_AT + 4 * from, 4, to - from, QUERY_AT, most, FOUND_AT);
  }

  static merged(sources: readonly Source[]): Postings {
    const counts = new Uint32Array(WORDS + 1);
    for (const { points, rowOf } of sources) {
      points.forEach((word, at) => {
        if (rowOf(rowOfOwner(points.owners[at] as number)) >= 0) counts[word + 1] = (counts[word + 1] as number) + 1;
      });
    }
    prefixSums(counts);
    const merged = new Postings(counts[WORDS] as number);
    merged.starts.set(counts);
    for (const { points, rowOf } of sources) {
      points.forEach((word, at) => {
        const owner = points.owners[at] as number;
        const row = rowOf(rowOfOwner(owner));
        if (row < 0) return;
        const to = counts[word] as number;
        counts[word] = to + 1;
        merged.signatures[to] = points.signatures[at] as number;
        merged.owners[to] = ownerOf(row, placeOfOwner(owner));
      });
    }
    return merged;
  }

  forEach(call: (word: number, at: number) => void): void {
    for (let word = 0; word < WORDS; word++) {
      for (let at = this.starts[word] as number; at < (this.starts[word + 1] as number); at++) call(word, at);
    }
  }
}

/** The points of the pictures in {@link BLOCK_ROWS} rows, 8 bytes each. */
export class PointBlock {
  #postings: Postings;
  /** Those added since the last merge: in the order of their words, and those since the last search as they came. */
  #recent: Postings | undefined;
  #added = new AddedPoints();

  constructor(postings = new Postings(0)) {
    this.#postings = postings;
  }

  get bytes(): number {
    return this.#postings.bytes + this.#added.bytes + (this.#recent?.bytes ?? 0);
  }

  /** Maximum bytes of a number of points in a number of blocks. */
  static bytesFor(points: number, blocks: number): number {
    const own = BYTES_OF_STARTS + memoryBytes(SIGNATURES_AT) + memoryBytes(1);
    const least = 2 * own + GROWTH * BYTES_OF_ADDED * MIN_MERGED;
    return BYTES_OF_POINT * (1 + MAX_ADDED_SHARE) * points + blocks * least;
  }

  add(word: number, point: StoredPoint): void {
    this.#added.add(word, point);
    const count = this.#added.count + (this.#recent?.count ?? 0);
    if (count <= MIN_MERGED || count <= MAX_ADDED_SHARE * this.#postings.count) return;
    this.#postings = Postings.merged(this.sources(sameRow));
    this.#recent = undefined;
    this.#added = new AddedPoints();
  }

  /** All points, each once. */
  postings(): Postings[] {
    if (this.#added.count > 0) {
      const [, ...others] = this.sources(sameRow);
      this.#recent = Postings.merged(others);
      this.#added = new AddedPoints();
    }
    return this.#recent === undefined ? [this.#postings] : [this.#postings, this.#recent];
  }

  /** All points, to be merged. */
  sources(rowOf: (row: number) => number): Source[] {
    const recent = this.#recent === undefined ? [] : [this.#recent];
    return [this.#postings, ...recent, this.#added].map((points) => ({ points, rowOf }));
  }
}
