import { type Bits, bitsBytes, createBits, grownBits, hasBit, setBit } from '../bits.ts';
import { copyInto } from '../row-table.ts';
import { agreement, type Hit } from './agreement.ts';
import { type PointSet, readPoints, roughPlaceOf, roughTurnOf, TURNS, unpackRough } from './point-format.ts';
import {
  BLOCK_ROWS,
  MAX_COMPARED,
  ownerOf,
  PointBlock,
  Postings,
  placeOfOwner,
  prefixSums,
  rowOfOwner,
} from './postings.ts';
import { SIGNATURE_BITS } from './signature-bits.ts';
import { BitComparer, WORDS } from './words.ts';

/** Words that are searched for each point. */
const PROBES = 6;
/**
 * So many points are compared in a search, and so many times as many as its words have on average. Of common words,
 * which tell little, the rest is left out.
 */
const MIN_COMPARED = 131_072;
const COMPARED = 1.4;
/** Signatures of the same point differ in at most so many of 32 bits. */
const MAX_DIFFERENCE = 4;
/**
 * Rows with the most votes that are compared by the places of their points: at least so many, and as many as the root of
 * all. With more of a few thousand, wrong ones are kept; with fewer of a million, right ones are lost.
 */
const MIN_POOL = 300;
/** Hits of a block that are kept: many more come only from pictures without anything to tell them apart. */
const MAX_HITS = 1 << 18;
/** Points of a picture, for the estimate of memory. */
const POINTS_OF_PICTURE = 180;

/** A row with votes, and the hits of which they are. */
interface Voted {
  readonly row: number;
  readonly votes: number;
  readonly hits: Hit[];
}

/** A row that may show a part of a picture. */
interface RowCandidate {
  readonly row: number;
  /** How many points agree in their places, times the votes: either alone misses more. */
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
      this.#blocks[block]?.add(codes.wordOf(bits, 4 * i), {
        signature: signatureOf(bits, 4 * i),
        owner: ownerOf(row % BLOCK_ROWS, roughPlaceOf(bytes, i)),
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
    const weights = this.#weightsOf(words);
    const signatures = Uint32Array.from({ length: query.count }, (_, i) => signatureOf(query.bits, 4 * i));
    const order = Uint32Array.from(words.keys())
      .filter((i) => weights[i] !== 0)
      .sort((a, b) => (words[a] as number) - (words[b] as number));
    const poolSize = Math.max(MIN_POOL, Math.ceil(Math.sqrt(this.#pictures)));
    let pool: Voted[] = [];
    // One block after the other: its votes fit into the largest cache of a processor.
    for (const [i, block] of this.#blocks.entries()) {
      const firstRow = i * BLOCK_ROWS;
      const hitCount = findHits(block.postings(), { words, weights, signatures, order }, rows, firstRow);
      countVotes(hitCount, query);
      const blockRows = Math.min(BLOCK_ROWS, 32 * this.rowsWithVector.length - firstRow);
      const voted = rowsWithMost(blockRows, poolSize, pool[poolSize - 1]?.votes).map(({ row, votes }): Voted => {
        return { row: firstRow + row, votes, hits: [] };
      });
      pool = pool.length === 0 ? voted : [...pool, ...voted].sort((a, b) => b.votes - a.votes || a.row - b.row);
      pool.length = Math.min(pool.length, poolSize);
      const placeInPool = new Int16Array(blockRows).fill(-1);
      for (const [place, { row }] of pool.entries()) if (row >= firstRow) placeInPool[row - firstRow] = place;
      for (let hit = 0; hit < hitCount; hit++) {
        const owner = HITS.owners[hit] as number;
        const place = placeInPool[rowOfOwner(owner)] as number;
        if (place >= 0) pool[place]?.hits.push({ point: HITS.points[hit] as number, place: placeOfOwner(owner) });
      }
    }
    return pool
      .map(({ row, votes, hits }) => {
        const long = this.#longs[row] as number;
        const agreed = agreement(query, hits, (hit, into, at) => unpackRough(hit.place, long, into, at));
        return { row, support: agreed * votes };
      })
      .sort((a, b) => b.support - a.support || a.row - b.row)
      .slice(0, count);
  }

  /** How much each word of a query tells: more the rarer it is. 0 for those that are not compared. */
  #weightsOf(words: Uint16Array): Float32Array {
    const sizes = new Uint32Array(words.length);
    let points = 0;
    for (const { starts, count } of this.#blocks.flatMap((block) => block.postings())) {
      points += count;
      for (let i = 0; i < words.length; i++) {
        const word = words[i] as number;
        sizes[i] = (sizes[i] as number) + (starts[word + 1] as number) - (starts[word] as number);
      }
    }
    // Many points of one word, such as those of a text, count less (Jégou, Douze and Schmid, "On the burstiness of
    // visual elements", 2009).
    const load = new Uint16Array(WORDS);
    for (const word of words) load[word] = (load[word] as number) + 1;
    const compared = mostCompared(sizes, points);
    return Float32Array.from(words, (word, i) => {
      const size = sizes[i] as number;
      if (size === 0 || size > compared.size || (size === compared.size && compared.left-- <= 0)) return 0;
      return Math.log1p(this.#pictures / size) ** 2 / Math.sqrt(load[word] as number);
    });
  }
}

/** What is compared with the points of pictures. */
interface Sought {
  /** {@link PROBES} for each point. */
  readonly words: Uint16Array;
  readonly weights: Float32Array;
  readonly signatures: Uint32Array;
  /** The positions of the words that are compared, in the order of the words: points of one word lie together. */
  readonly order: Uint32Array;
}

/**
 * Finds the points of a block that are similar to those of a query, and writes them to {@link HITS}.
 *
 * @param rows of which some are wanted
 * @returns how many
 */
function findHits(
  parts: readonly Postings[],
  { words, weights, signatures, order }: Sought,
  rows: Bits,
  firstRow: number,
) {
  let hitCount = 0;
  for (let at = 0; at < order.length; at++) {
    const i = order[at] as number;
    const [word, weight, point] = [words[i] as number, weights[i] as number, Math.floor(i / PROBES)];
    const signature = signatures[point] as number;
    for (const part of parts) {
      const { starts, owners, found } = part;
      const end = starts[word + 1] as number;
      for (let from = starts[word] as number; from < end; from += MAX_COMPARED) {
        const count = part.near(signature, from, Math.min(end, from + MAX_COMPARED), MAX_DIFFERENCE);
        for (let j = 0; j < count; j++) {
          const one = found[j] as number;
          const owner = owners[from + (one >>> 9)] as number;
          if (hitCount === MAX_HITS || !hasBit(rows, firstRow + rowOfOwner(owner))) continue;
          HITS.points[hitCount] = point;
          HITS.owners[hitCount] = owner;
          HITS.votes[hitCount++] = weight * (WEIGHTS[one & 511] as number);
        }
      }
    }
  }
  return hitCount;
}

/**
 * Each point of a query votes once for each row that it hits, by its best hit. A part is turned as a whole: only the votes
 * of points that are turned about as much count together, those of the turn with most votes. They are in {@link TALLY}.
 */
function countVotes(hitCount: number, { count, turn: turns }: PointSet): void {
  const starts = new Uint32Array(count + 1);
  for (let hit = 0; hit < hitCount; hit++) {
    const after = (HITS.points[hit] as number) + 1;
    starts[after] = (starts[after] as number) + 1;
  }
  prefixSums(starts);
  for (let hit = 0; hit < hitCount; hit++) {
    const point = HITS.points[hit] as number;
    const to = starts[point] as number;
    starts[point] = to + 1;
    HITS.byPoint[to] = hit;
  }
  TALLY.fill(0);
  TURNED.fill(0);
  for (let i = 0; i < hitCount; i++) {
    const hit = HITS.byPoint[i] as number;
    const [point, owner, voted] = [HITS.points[hit] as number, HITS.owners[hit] as number, HITS.votes[hit] as number];
    const row = rowOfOwner(owner);
    const at = TALLY_SIZE * row;
    const isSame = TALLY[at + 1] === point + 1;
    const before = isSame ? (TALLY[at + 2] as number) : 0;
    if (voted <= before) continue;
    if (isSame) {
      const earlier = TALLY[at + 3] as number;
      TURNED[earlier] = (TURNED[earlier] as number) - before;
    }
    const turned = TURN_BINS * row + turnBin(turns[point] as number, placeOfOwner(owner));
    TURNED[turned] = (TURNED[turned] as number) + voted;
    TALLY[at] = (TALLY[at] as number) + voted - before;
    TALLY[at + 1] = point + 1;
    TALLY[at + 2] = voted;
    TALLY[at + 3] = turned;
  }
}

/** How much a point of a query is turned against one at a rough place. */
function turnBin(turn: number, place: number): number {
  const turned = turn - roughTurnOf(place) + TURNS;
  return Math.floor((turned * TURN_BINS) / TURNS) % TURN_BINS;
}

/** The votes of a row that count together: of two neighbouring turns. */
function votesOf(row: number): number {
  let most = 0;
  let before = TURNED[TURN_BINS * (row + 1) - 1] as number;
  for (let i = TURN_BINS * row; i < TURN_BINS * (row + 1); i++) {
    const votes = TURNED[i] as number;
    most = Math.max(most, before + votes);
    before = votes;
  }
  return most;
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
  for (let i = 0; i < count; i++) codes.wordsNear(bits, 4 * i, words.subarray(PROBES * i, PROBES * (i + 1)));
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

/**
 * The rows of a block with the most votes, most first.
 *
 * @param least rows with no more votes are left out
 */
function rowsWithMost(rows: number, count: number, least = 0): Pick<Voted, 'row' | 'votes'>[] {
  const most: Pick<Voted, 'row' | 'votes'>[] = [];
  for (let row = 0; row < rows; row++) {
    // All votes are at least those that count together.
    if ((TALLY[TALLY_SIZE * row] as number) <= least) continue;
    const votes = votesOf(row);
    if (votes <= least) continue;
    let [from, to] = [0, most.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (votes > (most[middle]?.votes as number)) to = middle;
      else from = middle + 1;
    }
    most.splice(from, 0, { row, votes });
    if (most.length > count) most.pop();
    if (most.length === count) least = most[count - 1]?.votes as number;
  }
  return most;
}

/**
 * For each row of a block the sum of its votes, the number of the last point that voted plus 1, its vote, and where it
 * is in {@link TURNED}.
 */
const TALLY_SIZE = 4;
const TALLY = new Float32Array(TALLY_SIZE * BLOCK_ROWS);

/** For each row of a block the sums of its votes by how much its points are turned. */
const TURN_BINS = 16;
const TURNED = new Float32Array(TURN_BINS * BLOCK_ROWS);

/** The hits of a search in a block: which point of the query hit which point of a picture, and its vote. */
const HITS = {
  points: new Uint16Array(MAX_HITS),
  owners: new Uint32Array(MAX_HITS),
  votes: new Float32Array(MAX_HITS),
  /** The hits in the order of the points of the query. */
  byPoint: new Uint32Array(MAX_HITS),
};

/** The weight of a vote by the number of different bits. */
const WEIGHTS = Float32Array.from({ length: 33 }, (_, bits) => Math.exp((-bits * bits) / 18));
