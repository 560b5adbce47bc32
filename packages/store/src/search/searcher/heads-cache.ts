import type { Heads, HeadsQuery } from '@akin/searcher';

/** Maximum number of results per collection. */
const MAX_RESULTS = 32;

/**
 * The heads of groups that recent queries found: the pages of a result, and rankings of it, share them. A query of
 * another commit is another one.
 */
export class HeadsCache {
  readonly #ask: (query: HeadsQuery) => Promise<Heads | undefined>;
  readonly #free: () => number;
  /** By {@link headsKey}. The most recently used one is the last. */
  readonly #found = new Map<string, Heads>();

  /** @param free bytes that it can use before other data is dropped */
  constructor(ask: (query: HeadsQuery) => Promise<Heads | undefined>, free: () => number) {
    this.#ask = ask;
    this.#free = free;
  }

  get bytes(): number {
    return [...this.#found.values()].reduce((sum, heads) => sum + bytesOf(heads), 0);
  }

  clear(): void {
    this.#found.clear();
  }

  /** @param key undefined: the result is not kept, see {@link headsKey} */
  async find(query: HeadsQuery, key: string | undefined): Promise<Heads | undefined> {
    const known = key === undefined ? undefined : this.#found.get(key);
    const heads = known ?? (await this.#ask(query));
    if (key === undefined || heads === undefined) return heads;
    this.#found.delete(key);
    if (known !== undefined || bytesOf(heads) <= this.#free()) this.#found.set(key, heads);
    const [oldest] = this.#found.keys();
    if (this.#found.size > MAX_RESULTS && oldest !== undefined) this.#found.delete(oldest);
    return heads;
  }
}

/**
 * What determines the result of a query: filters and columns never get the number of another one, and one commit sees
 * the same rows with the same values. More values of a column change places, but not the order.
 */
export function headsKey({ keys, ...query }: HeadsQuery): string {
  const order = keys.map(({ column, places, isDescending }) => [column, places.length, isDescending]);
  return JSON.stringify(['heads', query, order]);
}

function bytesOf({ docs, places }: Heads): number {
  return places.reduce((sum, { byteLength }) => sum + byteLength, docs.byteLength);
}
