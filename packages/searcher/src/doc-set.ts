/** Documents of a page, one bit each. */
const PAGE_SIZE = 65_536;
const PAGE_WORDS = PAGE_SIZE / 32;
/** Minimum average of documents on a page: with fewer, a document takes more than 32 bytes. */
const MIN_ON_PAGES = 256;

/** Numbers of documents: below 2^32 in a `Uint32Array`, below 2^53 in a `Float64Array`. */
export type DocNumbers = Uint32Array | Float64Array;

/**
 * A set of documents as a bitmap by document number, in memory that threads share. It is compared with sorted rows
 * without a hash table.
 */
export interface DocSet {
  /** The number of each page, which is document number / 65,536. */
  readonly pages: Float64Array;
  /** 65,536 bits for each page. */
  readonly bits: Uint32Array;
}

/** @returns undefined if the numbers are too sparse for a bitmap */
export function docSetOf(docs: DocNumbers): DocSet | undefined {
  const max = Math.floor(docs.length / MIN_ON_PAGES);
  const starts = new Map<number, number>();
  let [last, start] = [-1, 0];
  for (let i = 0; i < docs.length; i++) {
    const page = Math.floor((docs[i] as number) / PAGE_SIZE);
    if (page === last || starts.has(page)) continue;
    if (starts.size === max) return undefined;
    starts.set(page, starts.size * PAGE_WORDS);
    last = page;
  }
  const bits = new Uint32Array(new SharedArrayBuffer(4 * PAGE_WORDS * starts.size));
  let first = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < docs.length; i++) {
    let offset = (docs[i] as number) - first;
    if (offset < 0 || offset >= PAGE_SIZE) {
      const page = Math.floor((docs[i] as number) / PAGE_SIZE);
      first = page * PAGE_SIZE;
      start = starts.get(page) as number;
      offset = (docs[i] as number) - first;
    }
    bits[start + (offset >>> 5)] = (bits[start + (offset >>> 5)] as number) | (1 << (offset & 31));
  }
  return { pages: Float64Array.from(starts.keys()), bits };
}

/** Calls back with the position of each document that is in the set. @param docs sorted numbers are faster */
export function forEachIn({ pages, bits }: DocSet, docs: Float64Array, take: (index: number) => void): void {
  const starts = new Map(Array.from(pages, (page, i) => [page, i * PAGE_WORDS]));
  let first = Number.NEGATIVE_INFINITY;
  let start: number | undefined;
  for (let i = 0; i < docs.length; i++) {
    // Without this, divisions take most of the time when each document has a separate page.
    let offset = (docs[i] as number) - first;
    if (offset < 0 || offset >= PAGE_SIZE) {
      const page = Math.floor((docs[i] as number) / PAGE_SIZE);
      first = page * PAGE_SIZE;
      start = starts.get(page);
      offset = (docs[i] as number) - first;
    }
    if (start !== undefined && ((bits[start + (offset >>> 5)] as number) >>> (offset & 31)) & 1) take(i);
  }
}
