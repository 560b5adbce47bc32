/** Documents of a page, as bits. */
const PAGE = 65_536;
const PAGE_WORDS = PAGE / 32;
/** Pages hold this many documents on average: others take more than 32 bytes each. */
const LEAST_ON_PAGES = 256;

/** Numbers of documents: below 2^32, or below 2^53. */
export type DocNumbers = Uint32Array | Float64Array;

/** Documents as bits by their number, in memory that threads share: compared with rows in order, without a hash table. */
export interface DocSet {
  /** The number of each page: those of its documents by 65,536. */
  readonly pages: Float64Array;
  /** 65,536 bits for each page. */
  readonly bits: Uint32Array;
}

/** @returns undefined where the numbers lie too far apart */
export function docSetOf(docs: DocNumbers): DocSet | undefined {
  const most = Math.floor(docs.length / LEAST_ON_PAGES);
  const starts = new Map<number, number>();
  let [last, start] = [-1, 0];
  for (let i = 0; i < docs.length; i++) {
    const page = Math.floor((docs[i] as number) / PAGE);
    if (page === last || starts.has(page)) continue;
    if (starts.size === most) return undefined;
    starts.set(page, starts.size * PAGE_WORDS);
    last = page;
  }
  const bits = new Uint32Array(new SharedArrayBuffer(4 * PAGE_WORDS * starts.size));
  let first = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < docs.length; i++) {
    let place = (docs[i] as number) - first;
    if (place < 0 || place >= PAGE) {
      const page = Math.floor((docs[i] as number) / PAGE);
      first = page * PAGE;
      start = starts.get(page) as number;
      place = (docs[i] as number) - first;
    }
    bits[start + (place >>> 5)] = (bits[start + (place >>> 5)] as number) | (1 << (place & 31));
  }
  return { pages: Float64Array.from(starts.keys()), bits };
}

/** Calls back with the places of those of some documents that are in a set. @param docs in order where that is quick */
export function forEachIn({ pages, bits }: DocSet, docs: Float64Array, take: (place: number) => void): void {
  const starts = new Map(Array.from(pages, (page, i) => [page, i * PAGE_WORDS]));
  let first = Number.NEGATIVE_INFINITY;
  let start: number | undefined;
  for (let i = 0; i < docs.length; i++) {
    // Divisions take most of the time where each document has its own.
    let place = (docs[i] as number) - first;
    if (place < 0 || place >= PAGE) {
      const page = Math.floor((docs[i] as number) / PAGE);
      first = page * PAGE;
      start = starts.get(page);
      place = (docs[i] as number) - first;
    }
    if (start !== undefined && ((bits[start + (place >>> 5)] as number) >>> (place & 31)) & 1) take(i);
  }
}
