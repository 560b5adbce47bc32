import type { NearPairs, PairsQuery } from '@akin/searcher';

export interface CellSource {
  /** The cells are those of documents that were added up to this commit. */
  readonly commit: bigint;
  readonly module: string;
  /** Reads the vectors of documents that may have been replaced: `int8send(doc)` and `halfvec_send(vector)` of each. */
  readonly readVectors: (docs: readonly bigint[]) => Promise<Buffer>;
}

/** Documents with their cells: `int8send(doc)` and `int4send(cell)` of each. */
interface AssignedChunk {
  readonly bytes: Uint8Array;
  /** The last of them. Undefined if there are no more. */
  readonly last: bigint | undefined;
}

/** The collection whose cells these are: see InMemoryCollection. */
interface CellHolder {
  pairs(query: PairsQuery): Promise<NearPairs | undefined>;
  assignCells(bytes: Uint8Array, isFirst: boolean): Promise<number[]>;
  addRemoved(commit: bigint, module: string, vectors: Buffer): Promise<boolean>;
}

type ReadNext = (behind: bigint) => Promise<AssignedChunk>;

/** Which documents of a collection in memory are in cells, and for which version that is complete. */
export class InMemoryCells {
  readonly #held: CellHolder;
  /** Fills them, for all callers that wait for it. */
  #filling: Promise<void> | undefined;
  #version: string | undefined;

  constructor(held: CellHolder) {
    this.#held = held;
  }

  /** Undefined while they are incomplete. */
  get version(): string | undefined {
    return this.#version;
  }

  /** @returns undefined if the cells are no longer complete */
  async pairs(query: PairsQuery): Promise<NearPairs | undefined> {
    const version = this.#version;
    const pairs = await this.#held.pairs(query);
    if (pairs === undefined && this.#version === version) this.#version = undefined;
    return pairs;
  }

  /**
   * Fills the cells for a version. The collection must reach the commit of the source. @param readNext reads the next
   * documents after one, with their cells
   */
  fill(version: string, source: CellSource, readNext: ReadNext): Promise<void> {
    this.#filling ??= this.#fill(version, source, readNext).finally(() => {
      this.#filling = undefined;
    });
    return this.#filling;
  }

  /** Adds the changes from another version. If the cells are of neither version, they do not change. */
  async extend(from: string, to: string, source: CellSource, bytes: Uint8Array): Promise<void> {
    if (this.#version !== from) return;
    const isWhole = bytes.length === 0 || (await this.#assign(source, bytes, false));
    if (this.#version === from) this.#version = isWhole ? to : undefined;
  }

  async #fill(version: string, source: CellSource, readNext: ReadNext): Promise<void> {
    this.#version = undefined;
    let isWhole = true;
    for (let behind: bigint | undefined = -1n, isFirst = true; behind !== undefined; isFirst = false) {
      const { bytes, last }: AssignedChunk = await readNext(behind);
      isWhole = (await this.#assign(source, bytes, isFirst)) && isWhole;
      behind = last;
    }
    if (isWhole) this.#version = version;
  }

  /** @returns whether all of them are in cells now */
  async #assign({ commit, module, readVectors }: CellSource, bytes: Uint8Array, isFirst: boolean): Promise<boolean> {
    const missing = await this.#held.assignCells(bytes, isFirst);
    if (missing.length === 0) return true;
    const vectors = await readVectors(missing.map(BigInt));
    if (!(await this.#held.addRemoved(commit, module, vectors))) return false;
    return (await this.#held.assignCells(bytes, false)).length === 0;
  }
}
