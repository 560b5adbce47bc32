import { type Bits, bitsBytes, createBits, grownBits, hasBit, setBit } from '../bits.ts';
import { copyInto } from '../row-table.ts';
import { agreement, type Hit } from './agreement.ts';
import { type PointSet, readPoints, roughPlaceOf, unpackRough } from './point-format.ts';
import { BLOCK_ROWS, PointBlock, Postings } from './postings.ts';
import { SIGNATURE_BITS } from './signature-bits.ts';
import { BitComparer, MAX_SIGNATURES, WORDS } from './words.ts';

/** Words that are searched for each point. */
const PROBES = 8;
/**
 * So many points are compared in a search, and so many times as many as its words have on average. Of common words,
 * which tell little, the rest is left out.
 */
const MIN_COMPARED = 131_072;
const COMPARED = 2;
/** Signatures of the same point differ in at most so many of 32 bits. */
const MAX_DIFFERENCE = 5;
/** Rows with the most votes that are compared by the places of their points. */
const POOL = 200;
/** Hits that are kept: many more come only from pictures without anything to tell them apart. */
const MAX_HITS = 1 << 18;
/** Points of a picture, for the estimate of memory. */
const POINTS_OF_PICTURE = 200;

/** A row that may show a part of a picture. */
interface RowCandidate {
  readonly row: number;
  /** How many points agree in their places, times the votes of all: either alone misses more. */
  readonly support: number;
}

let comparer: BitComparer | undefined;
function ownComparer(): BitComparer {
  comparer ??= new BitComparer();
  return comparer;
}

/**
 * Points of the pictures of many rows by their words, each with its row, a rough place and a signature of 32 of its bits
 * (Jégou, Douze and Schmid, "Hamming embedding and weak geometric consistency", 2008).
 */
export class PointTable {
  readonly #blocks: PointBlock[] = [];
  /** The long side of the picture of each row, in pixels. */
  #longs = new Uint16Array(1_024);
  #pictures = 0;
  rowsWithVector: Bits = createBits(1_024);

  get bytes(): number {
    const own = this.rowsWithVector.byteLength + this.#longs.byteLength;
    return this.#blocks.reduce((sum, { bytes }) => sum + bytes, own);
  }

  /** Maximum bytes for a number of rows. */
  static bytesFor(rows: number): number {
    const points = PointBlock.bytesFor(POINTS_OF_PICTURE * rows, Math.ceil(rows / BLOCK_ROWS));
    return bitsBytes(rows) + 3 * rows + points;
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
    const codes = ownComparer();
    const { bits, count } = points;
    const block = Math.floor(row / BLOCK_ROWS);
    while (this.#blocks.length <= block) this.#blocks.push(new PointBlock());
    for (let i = 0; i < count; i++) {
      this.#blocks[block]?.add(codes.wordOf(bits, 8 * i), {
        ...{ row: row % BLOCK_ROWS, signature: signatureOf(bits, 8 * i), place: roughPlaceOf(bytes, i) },
      });
    }
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
    for (let from = 0; from < rows.length; from += BLOCK_ROWS) {
      const blocks = new Set<number>();
      for (const other of rows.subarray(from, from + BLOCK_ROWS)) blocks.add(Math.floor(other / BLOCK_ROWS));
      const sources = [...blocks].flatMap((block) => {
        const rowOf = (other: number) => {
          const row = (newRows[block * BLOCK_ROWS + other] as number) - from;
          return row < BLOCK_ROWS ? row : -1;
        };
        return this.#blocks[block]?.sources(rowOf) ?? [];
      });
      table.#blocks.push(new PointBlock(Postings.merged(sources)));
    }
    return table;
  }

  /**
   * The rows whose points may show a part of a picture, most likely first.
   *
   * @param rows of which some are wanted
   * @param words see {@link wordsOf}
   */
  search(query: PointSet, rows: Bits, count: number, words = wordsOf(query)): RowCandidate[] {
    const { votes, touched, hitCount } = this.#vote(query, words, rows);
    const pool = rowsWithMost(votes, touched, POOL);
    const places = new Int16Array(votes.length).fill(-1);
    for (const [place, row] of pool.entries()) places[row] = place;
    const hits = pool.map((): Hit[] => []);
    for (let i = 0; i < hitCount; i++) {
      const own = hits[places[HITS.rows[i] as number] as number];
      own?.push({ point: HITS.points[i] as number, place: HITS.places[i] as number });
    }
    return pool
      .map((row, i) => {
        const long = this.#longs[row] as number;
        const agreed = agreement(query, hits[i] as Hit[], (hit, into, at) => unpackRough(hit.place, long, into, at));
        return { row, support: agreed * (votes[row] as number) };
      })
      .sort((a, b) => b.support - a.support || a.row - b.row)
      .slice(0, count);
  }

  /** Each point of the query votes for the rows with a similar point, by how rare its word is, and once for each. */
  #vote(query: PointSet, words: Uint16Array, rows: Bits) {
    const codes = ownComparer();
    // Many points of one word, such as those of a text, count less (Jégou, Douze and Schmid, "On the burstiness of
    // visual elements", 2009).
    const load = new Uint16Array(WORDS);
    for (const word of words) load[word] = (load[word] as number) + 1;
    const votes = new Float32Array(this.rowsWithVector.length * 32);
    const lastPoint = new Int32Array(votes.length).fill(-1);
    const lastVote = new Float32Array(votes.length);
    const touched: number[] = [];
    let hitCount = 0;
    const parts = this.#blocks.flatMap((block, i) =>
      block.postings().map((postings) => ({ postings, firstRow: i * BLOCK_ROWS })),
    );
    const signature = new Uint32Array(1);
    let [point, held] = [0, 0];
    let lists: {
      readonly part: (typeof parts)[number];
      readonly weight: number;
      readonly shift: number;
      readonly end: number;
    }[] = [];
    const compare = () => {
      if (held === 0) return;
      const found = codes.near(1, signature, 0, MAX_DIFFERENCE);
      let [list, next] = [lists[0] as (typeof lists)[number], 1];
      for (let i = 0; i < found.length; i++) {
        const one = found[i] as number;
        while (one >>> 9 >= list.end) list = lists[next++] as typeof list;
        const at = (one >>> 9) + list.shift;
        const row = list.part.firstRow + (list.part.postings.rows[at] as number);
        if (!hasBit(rows, row)) continue;
        if (hitCount < MAX_HITS) {
          HITS.points[hitCount] = point;
          HITS.rows[hitCount] = row;
          HITS.places[hitCount++] = list.part.postings.places[at] as number;
        }
        const vote = list.weight * (WEIGHTS[one & 511] as number);
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
      }
      [lists, held] = [[], 0];
    };
    const sizes = new Uint32Array(words.length);
    for (const { postings } of parts) {
      const { starts } = postings;
      for (let i = 0; i < words.length; i++) {
        const word = words[i] as number;
        sizes[i] = (sizes[i] as number) + (starts[word + 1] as number) - (starts[word] as number);
      }
    }
    const points = parts.reduce((sum, { postings }) => sum + postings.count, 0);
    const compared = mostCompared(sizes, points);
    for (; point < query.count; point++) {
      signature[0] = signatureOf(query.bits, 8 * point);
      for (let i = PROBES * point; i < PROBES * (point + 1); i++) {
        const [word, size] = [words[i] as number, sizes[i] as number];
        if (size === 0 || size > compared.size || (size === compared.size && compared.left-- <= 0)) continue;
        const weight = Math.log1p(this.#pictures / size) ** 2 / Math.sqrt(load[word] as number);
        for (const part of parts) {
          const { starts, signatures } = part.postings;
          const end = starts[word + 1] as number;
          for (let from = starts[word] as number, to = from; from < end; from = to) {
            to = Math.min(end, from + MAX_SIGNATURES);
            if (held + to - from > MAX_SIGNATURES) compare();
            codes.hold(signatures.subarray(from, to), held > 0);
            lists.push({ part, weight, shift: from - held, end: held + to - from });
            held += to - from;
          }
        }
      }
      compare();
    }
    return { votes, touched, hitCount };
  }
}

function signatureOf(bits: Uint32Array, at: number): number {
  let signature = 0;
  for (let i = 0; i < SIGNATURE_BITS.length; i++) {
    const bit = SIGNATURE_BITS[i] as number;
    signature |= (((bits[at + (bit >>> 5)] as number) >>> (bit & 31)) & 1) << i;
  }
  return signature;
}

/** The words by which the points of a picture are looked for: {@link PROBES} for each. */
export function wordsOf({ bits, count }: PointSet): Uint16Array {
  const codes = ownComparer();
  const words = new Uint16Array(PROBES * count);
  for (let i = 0; i < count; i++) codes.wordsNear(bits, 8 * i, words.subarray(PROBES * i, PROBES * (i + 1)));
  return words;
}

/** The words of the mirrored points: the halves of their bits are swapped. */
export function mirroredWords(words: Uint16Array): Uint16Array {
  return words.map((word) => (word >>> 8) | (word << 8));
}

/**
 * Which of the words of a query are compared: those with fewer points, and some of those with exactly as many.
 *
 * @param sizes how many points each has
 * @param points of all words
 */
function mostCompared(sizes: Uint32Array, points: number): { readonly size: number; left: number } {
  const most = MIN_COMPARED + (COMPARED * sizes.length * points) / WORDS;
  const sorted = sizes.slice().sort();
  let [i, sum, left] = [0, 0, 0];
  // The first one in any case.
  for (; i < sorted.length && (sum === 0 || sum + (sorted[i] as number) <= most); i++) {
    left = sorted[i] === sorted[i - 1] ? left + 1 : 1;
    sum += sorted[i] as number;
  }
  const size = sorted[i] ?? Number.POSITIVE_INFINITY;
  return { size, left: size === sorted[i - 1] ? left : 0 };
}

/** The rows with the most votes, most first. */
function rowsWithMost(votes: Float32Array, rows: readonly number[], count: number): number[] {
  const most: number[] = [];
  const isBefore = (a: number, b: number) => {
    const difference = (votes[a] as number) - (votes[b] as number);
    return difference > 0 || (difference === 0 && a < b);
  };
  for (const row of rows) {
    if (most.length === count && !isBefore(row, most[count - 1] as number)) continue;
    let [from, to] = [0, most.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (isBefore(row, most[middle] as number)) to = middle;
      else from = middle + 1;
    }
    most.splice(from, 0, row);
    if (most.length > count) most.pop();
  }
  return most;
}

/** The hits of one search: which point of the query hit a point of which row, and its place. */
const HITS = {
  points: new Uint16Array(MAX_HITS),
  rows: new Uint32Array(MAX_HITS),
  places: new Uint16Array(MAX_HITS),
};

/** The weight of a vote by the number of different bits. */
const WEIGHTS = Float32Array.from({ length: 33 }, (_, bits) => Math.exp((-bits * bits) / 18));
