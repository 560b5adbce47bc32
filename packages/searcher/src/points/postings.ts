import { copyInto } from '../row-table.ts';
import { WORDS } from './words.ts';

const GROWTH = 1.25;

/** Points in the order in which they were added. */
export class AddedPoints {
  count = 0;
  words = new Uint16Array(1_024);
  rows = new Uint32Array(1_024);
  /** Two words of 32 bits each. */
  signatures = new Uint32Array(2_048);
  /** Where each point is: see `unpack`. */
  places = new Uint32Array(1_024);

  get bytes(): number {
    return this.words.byteLength + this.rows.byteLength + this.signatures.byteLength + this.places.byteLength;
  }

  add(word: number, row: number, low: number, high: number, place: number): void {
    const at = this.count++;
    if (at === this.rows.length) this.#grow(Math.ceil(GROWTH * at));
    this.words[at] = word;
    this.rows[at] = row;
    this.signatures[2 * at] = low;
    this.signatures[2 * at + 1] = high;
    this.places[at] = place;
  }

  #grow(capacity: number): void {
    this.words = copyInto(this.words, new Uint16Array(capacity));
    this.rows = copyInto(this.rows, new Uint32Array(capacity));
    this.signatures = copyInto(this.signatures, new Uint32Array(2 * capacity));
    this.places = copyInto(this.places, new Uint32Array(capacity));
  }
}

/** Points in the order of their words. */
export class Postings {
  /** Where the points of each word begin, and the last ones end. */
  readonly starts = new Uint32Array(WORDS + 1);
  readonly rows: Uint32Array;
  readonly signatures: Uint32Array;
  readonly places: Uint32Array;

  constructor(count: number) {
    this.rows = new Uint32Array(count);
    this.signatures = new Uint32Array(2 * count);
    this.places = new Uint32Array(count);
  }

  get count(): number {
    return this.rows.length;
  }

  get bytes(): number {
    return this.starts.byteLength + this.rows.byteLength + this.signatures.byteLength + this.places.byteLength;
  }

  /**
   * @param rowOf the number of a row in the result; -1 to leave its points out
   */
  static merged(postings: Postings, added: AddedPoints, rowOf: (row: number) => number = (row) => row): Postings {
    const counts = new Uint32Array(WORDS + 1);
    const countUp = (word: number) => {
      counts[word + 1] = (counts[word + 1] as number) + 1;
    };
    postings.#forEach((word, at) => {
      if (rowOf(postings.rows[at] as number) >= 0) countUp(word);
    });
    for (let at = 0; at < added.count; at++) {
      if (rowOf(added.rows[at] as number) >= 0) countUp(added.words[at] as number);
    }
    for (let word = 0; word < WORDS; word++) counts[word + 1] = (counts[word + 1] as number) + (counts[word] as number);
    const merged = new Postings(counts[WORDS] as number);
    merged.starts.set(counts);
    const take = (word: number, from: Postings | AddedPoints, at: number) => {
      const row = rowOf(from.rows[at] as number);
      if (row < 0) return;
      const to = counts[word] as number;
      counts[word] = to + 1;
      merged.rows[to] = row;
      merged.signatures[2 * to] = from.signatures[2 * at] as number;
      merged.signatures[2 * to + 1] = from.signatures[2 * at + 1] as number;
      merged.places[to] = from.places[at] as number;
    };
    postings.#forEach((word, at) => take(word, postings, at));
    for (let at = 0; at < added.count; at++) take(added.words[at] as number, added, at);
    return merged;
  }

  #forEach(call: (word: number, at: number) => void): void {
    for (let word = 0; word < WORDS; word++) {
      for (let at = this.starts[word] as number; at < (this.starts[word + 1] as number); at++) call(word, at);
    }
  }
}
