import type { AssignedCell, NearPairs, PairsQuery } from '@akin/searcher';

/** Approximate bytes of memory of a document that is not in the searcher. */
const ABSENT_BYTES = 40;

/** Documents with their cells: `int8send(doc)` and `int4send(cell)` of each. */
interface AssignedChunk {
  readonly bytes: Uint8Array;
  /** The last of them. Undefined if there are no more. */
  readonly last: bigint | undefined;
}

/** The collection whose cells these are: see InMemoryCollection. */
interface CellHolder {
  pairs(query: PairsQuery): Promise<NearPairs | undefined>;
  assignCells(module: string, bytes: Uint8Array, isFirst: boolean): Promise<readonly AssignedCell[]>;
}

/** Which documents of a collection in memory are in cells, and for which version that is complete. */
export class InMemoryCells {
  readonly #held: CellHolder;
  /** Fills them, for all callers that wait for it. */
  #filling: Promise<void> | undefined;
  #version: string | undefined;
  /** Documents that memory lacks because they were replaced, by their cells. */
  #absent = new Map<number, bigint[]>();
  #absentCount = 0;

  constructor(held: CellHolder) {
    this.#held = held;
  }

  /** Undefined while they are incomplete. */
  get version(): string | undefined {
    return this.#version;
  }

  get bytes(): number {
    return ABSENT_BYTES * this.#absentCount;
  }

  /**
   * The documents that may be near each vector of a query, among those in its cells.
   *
   * @returns undefined if the cells are no longer complete, or there are more than `maxPairs`
   */
  async near(query: PairsQuery): Promise<bigint[][] | undefined> {
    const version = this.#version;
    const pairs = await this.#held.pairs(query);
    if (pairs === undefined && this.#version === version) this.#version = undefined;
    // Those that memory lacks may be of another version by now.
    if (pairs === undefined || pairs.isOverLimit || this.#version !== version) return undefined;
    const near = Array.from(query.ends, (end, i) => this.#absentIn(query.cells.subarray(query.ends[i - 1] ?? 0, end)));
    for (const [i, at] of pairs.queries.entries()) near[at]?.push(BigInt(pairs.docs[i] as number));
    return near;
  }

  /** Fills the cells for a version. @param readNext reads the next documents after one, with their cells */
  fill(version: string, module: string, readNext: (behind: bigint) => Promise<AssignedChunk>): Promise<void> {
    const fill = async () => {
      this.#version = undefined;
      this.#absent = new Map();
      this.#absentCount = 0;
      for (let behind: bigint | undefined = -1n, isFirst = true; behind !== undefined; isFirst = false) {
        const { bytes, last }: AssignedChunk = await readNext(behind);
        await this.#assign(module, bytes, isFirst);
        behind = last;
      }
      this.#version = version;
    };
    this.#filling ??= fill().finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  /** Adds the changes from another version. If the cells are of neither version, they do not change. */
  async extend(from: string, to: string, module: string, bytes: Uint8Array): Promise<void> {
    if (this.#version !== from) return;
    if (bytes.length > 0) await this.#assign(module, bytes, false);
    if (this.#version === from) this.#version = to;
  }

  #absentIn(cells: Int32Array): bigint[] {
    return this.#absentCount === 0 ? [] : Array.from(cells).flatMap((cell) => this.#absent.get(cell) ?? []);
  }

  async #assign(module: string, bytes: Uint8Array, isFirst: boolean): Promise<void> {
    for (const [doc, cell] of await this.#held.assignCells(module, bytes, isFirst)) {
      const others = this.#absent.get(cell) ?? [];
      this.#absent.set(cell, others);
      others.push(BigInt(doc));
      this.#absentCount++;
    }
  }
}
