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

/** A point in memory, without its word. */
interface StoredPoint {
  /** Within its block. */
  readonly row: number;
  readonly signature: number;
  /** See `roughPlaceOf`. */
  readonly place: number;
}

/** Points in the order in which they were added. */
class AddedPoints {
  count = 0;
  words = new Uint16Array(1_024);
  rows = new Uint16Array(1_024);
  signatures = new Uint32Array(1_024);
  places = new Uint16Array(1_024);

  get bytes(): number {
    return BYTES_OF_ADDED * this.rows.length;
  }

  add(word: number, { row, signature, place }: StoredPoint): void {
    const at = this.count++;
    if (at === this.rows.length) this.#grow(Math.ceil(GROWTH * at));
    this.words[at] = word;
    this.rows[at] = row;
    this.signatures[at] = signature;
    this.places[at] = place;
  }

  forEach(call: (word: number, at: number) => void): void {
    for (let at = 0; at < this.count; at++) call(this.words[at] as number, at);
  }

  #grow(capacity: number): void {
    this.words = copyInto(this.words, new Uint16Array(capacity));
    this.rows = copyInto(this.rows, new Uint16Array(capacity));
    this.signatures = copyInto(this.signatures, new Uint32Array(capacity));
    this.places = copyInto(this.places, new Uint16Array(capacity));
  }
}

interface Source {
  readonly points: Postings | AddedPoints;
  /** The number of a row in the result; -1 to leave its points out. */
  readonly rowOf: (row: number) => number;
}

const sameRow = (row: number) => row;

/** Points of a block in the order of their words. */
export class Postings {
  /** Where the points of each word begin, and the last ones end. */
  readonly starts = new Uint32Array(WORDS + 1);
  readonly rows: Uint16Array;
  readonly signatures: Uint32Array;
  readonly places: Uint16Array;

  constructor(count: number) {
    this.rows = new Uint16Array(count);
    this.signatures = new Uint32Array(count);
    this.places = new Uint16Array(count);
  }

  get count(): number {
    return this.rows.length;
  }

  get bytes(): number {
    return BYTES_OF_STARTS + BYTES_OF_POINT * this.count;
  }

  static merged(sources: readonly Source[]): Postings {
    const counts = new Uint32Array(WORDS + 1);
    for (const { points, rowOf } of sources) {
      points.forEach((word, at) => {
        if (rowOf(points.rows[at] as number) >= 0) counts[word + 1] = (counts[word + 1] as number) + 1;
      });
    }
    for (let word = 0; word < WORDS; word++) counts[word + 1] = (counts[word + 1] as number) + (counts[word] as number);
    const merged = new Postings(counts[WORDS] as number);
    merged.starts.set(counts);
    for (const { points, rowOf } of sources) {
      points.forEach((word, at) => {
        const row = rowOf(points.rows[at] as number);
        if (row < 0) return;
        const to = counts[word] as number;
        counts[word] = to + 1;
        merged.rows[to] = row;
        merged.signatures[to] = points.signatures[at] as number;
        merged.places[to] = points.places[at] as number;
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
    const least = 2 * BYTES_OF_STARTS + GROWTH * BYTES_OF_ADDED * MIN_MERGED;
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
