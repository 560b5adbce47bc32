import { type Bits, bitsBytes, createBits, grownBits, hasBit, setBit } from '../bits.ts';
import { copyInto } from '../row-table.ts';
import { agreement, type Hit } from './agreement.ts';
import { type PointSet, placeOf, readPoints, unpack } from './point-format.ts';
import { AddedPoints, Postings } from './postings.ts';
import { BitComparer, MAX_CODES, WORDS } from './words.ts';

/** Words that are searched for each point. */
const PROBES = 16;
/** Signatures of the same point differ in at most so many of 64 bits. */
const MAX_DIFFERENCE = 10;
/** Rows with the most votes that are compared by the places of their points. */
const POOL = 200;
/** Hits that are kept: many more come only from pictures without anything to tell them apart. */
const MAX_HITS = 1 << 18;
/** Added points are merged with the others when they are more than this share of those, and this many. */
const MAX_ADDED_SHARE = 0.25;
const MIN_MERGED = 65_536;
const BYTES_OF_POINT = 16;
/** Points of a picture, for the estimate of memory. */
const POINTS_OF_PICTURE = 100;

/** A row that may show a part of a picture. */
interface RowCandidate {
  readonly row: number;
  /** Points whose places agree. */
  readonly agreement: number;
  readonly votes: number;
}

let comparer: BitComparer | undefined;

/**
 * Points of the pictures of many rows by their words, 16 bytes each, with a signature of 64 of their bits (Jégou, Douze
 * and Schmid, "Hamming embedding and weak geometric consistency", 2008).
 */
export class PointTable {
  #postings = new Postings(0);
  /** Points since the last merge: as they came, and in the order of their words, once a search needs them. */
  #added = new AddedPoints();
  #recent: Postings | undefined;
  /** The long side of the picture of each row, in pixels. */
  #longs = new Uint16Array(1_024);
  #pictures = 0;
  rowsWithVector: Bits = createBits(1_024);

  get bytes(): number {
    const own = this.rowsWithVector.byteLength + this.#longs.byteLength;
    return own + this.#postings.bytes + this.#added.bytes + (this.#recent?.bytes ?? 0);
  }

  /** Maximum bytes for a number of rows. */
  static bytesFor(rows: number): number {
    const points = POINTS_OF_PICTURE * rows;
    const merging = 1 + 2 * MAX_ADDED_SHARE;
    return bitsBytes(rows) + 3 * rows + BYTES_OF_POINT * (merging * points + MIN_MERGED) + 8 * WORDS;
  }

  /** @param bytes points as the module parts writes them; ignored if they have another format */
  set(row: number, bytes: Uint8Array): void {
    if (hasBit(this.rowsWithVector, row)) return;
    const points = readPoints(bytes);
    if (points === undefined) return;
    this.rowsWithVector = grownBits(this.rowsWithVector, row + 1);
    setBit(this.rowsWithVector, row);
    this.#pictures++;
    if (row >= this.#longs.length) this.#longs = copyInto(this.#longs, new Uint16Array(Math.ceil(1.25 * (row + 1))));
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#longs[row] = Math.max(1, view.getUint16(2, true), view.getUint16(4, true));
    comparer ??= new BitComparer();
    const { bits, count } = points;
    for (let i = 0; i < count; i++) {
      const place = placeOf(bytes, i);
      this.#added.add(comparer.wordOf(bits, 8 * i), row, bits[8 * i] as number, bits[8 * i + 4] as number, place);
    }
    this.#recent = undefined;
    this.#mergeIfMany();
  }

  /** A copy with only these rows, in the given order. */
  copyOf(rows: Uint32Array): PointTable {
    const table = new PointTable();
    const newRows = new Int32Array(this.rowsWithVector.length * 32).fill(-1);
    table.#longs = new Uint16Array(Math.max(1_024, rows.length));
    table.rowsWithVector = createBits(Math.max(1_024, rows.length));
    for (const [row, other] of rows.entries()) {
      if (!hasBit(this.rowsWithVector, other)) continue;
      newRows[other] = row;
      setBit(table.rowsWithVector, row);
      table.#pictures++;
      table.#longs[row] = this.#longs[other] as number;
    }
    table.#postings = Postings.merged(this.#postings, this.#added, (row) => newRows[row] as number);
    return table;
  }

  /** The rows whose points may show a part of a picture, most likely first. @param rows of which some are wanted */
  search(query: PointSet, rows: Bits, count: number): RowCandidate[] {
    if (this.#added.count > 0) this.#recent ??= Postings.merged(new Postings(0), this.#added);
    const { hits, votes, touched } = this.#vote(query, rows);
    const pool = touched.sort((a, b) => (votes[b] as number) - (votes[a] as number) || a - b).slice(0, POOL);
    const ofRow = new Map(pool.map((row): [number, Hit[]] => [row, []]));
    for (const { point, row, place } of hits) {
      ofRow.get(row)?.push({ point, place });
    }
    return Array.from(ofRow, ([row, own]) => {
      const long = this.#longs[row] as number;
      return {
        row,
        votes: votes[row] as number,
        agreement: agreement(query, own, (hit, into, i) => unpack(hit.place, long, into, i)),
      };
    })
      .sort((a, b) => b.agreement - a.agreement || b.votes - a.votes || a.row - b.row)
      .slice(0, count);
  }

  #mergeIfMany(): void {
    const { count } = this.#added;
    if (count <= MIN_MERGED || count <= MAX_ADDED_SHARE * this.#postings.count) return;
    this.#postings = Postings.merged(this.#postings, this.#added);
    this.#added = new AddedPoints();
  }

  /** Each point of the query votes for the rows with a similar point, by how rare its word is, and once for each. */
  #vote(query: PointSet, rows: Bits) {
    comparer ??= new BitComparer();
    const words = Array.from({ length: query.count }, (_, i) =>
      (comparer as BitComparer).wordsNear(query.bits, 8 * i, PROBES),
    );
    // Many points of one word, such as those of a text, count less (Jégou, Douze and Schmid, "On the burstiness of
    // visual elements", 2009).
    const load = new Uint16Array(WORDS);
    for (const own of words) for (const word of own) load[word] = (load[word] as number) + 1;
    const votes = new Float32Array(this.rowsWithVector.length * 32);
    const lastPoint = new Int32Array(votes.length).fill(-1);
    const lastVote = new Float32Array(votes.length);
    const touched: number[] = [];
    const hits: { point: number; row: number; place: number }[] = [];
    const parts = [this.#postings, ...(this.#recent ? [this.#recent] : [])];
    const signature = new Uint32Array(2);
    for (const [point, own] of words.entries()) {
      signature[0] = query.bits[8 * point] as number;
      signature[1] = query.bits[8 * point + 4] as number;
      for (const word of own) {
        const size = parts.reduce(
          (sum, { starts }) => sum + (starts[word + 1] as number) - (starts[word] as number),
          0,
        );
        if (size === 0) continue;
        const weight = Math.log1p(this.#pictures / size) ** 2 / Math.sqrt(load[word] as number);
        for (const part of parts) {
          this.#scan(part, word, signature, (at, difference) => {
            const row = part.rows[at] as number;
            if (!hasBit(rows, row)) return;
            if (hits.length < MAX_HITS) hits.push({ point, row, place: part.places[at] as number });
            const vote = weight * (WEIGHTS[difference] as number);
            const before = votes[row] as number;
            if (before === 0) touched.push(row);
            if (lastPoint[row] !== point) {
              lastPoint[row] = point;
              lastVote[row] = vote;
              votes[row] = before + vote;
            } else if (vote > (lastVote[row] as number)) {
              votes[row] = before + vote - (lastVote[row] as number);
              lastVote[row] = vote;
            }
          });
        }
      }
    }
    return { hits, votes, touched };
  }

  #scan(
    { starts, signatures }: Postings,
    word: number,
    signature: Uint32Array,
    take: (at: number, difference: number) => void,
  ): void {
    const end = starts[word + 1] as number;
    for (let from = starts[word] as number; from < end; from += MAX_CODES) {
      const codes = signatures.subarray(2 * from, 2 * Math.min(end, from + MAX_CODES));
      const found = (comparer as BitComparer).near(codes, 2, signature, 0, MAX_DIFFERENCE);
      for (let i = 0; i < found.length; i++) {
        const one = found[i] as number;
        take(from + (one >>> 9), one & 511);
      }
    }
  }
}

/** The weight of a vote by the number of different bits. */
const WEIGHTS = Float32Array.from({ length: 65 }, (_, bits) => Math.exp((-bits * bits) / 64));
