import type { InMemoryCollection } from '../../search/searcher/in-memory-collection.ts';
import type { NeededInMemory } from '../../search/searcher/needed-in-memory.ts';
import type { Grouping } from './rule.ts';
import type { GroupingState } from './state.ts';
import type { UnassignedDocument } from './unassigned.ts';

/*
 * The searcher as an index of representatives: it has the descriptors of a collection, and the cells of the
 * representatives. It finds candidates near a document; the database decides (group-chunk.ts).
 *
 * The cells belong to a version of the state, which changes with every new representative, also of other processes. The
 * transaction that uses the candidates checks under its lock whether the state still has that version. Representatives
 * that left stay in the cells; the database leaves them out.
 */

/** Reading a descriptor into memory costs as much as grouping this share of a document in SQL. */
const DOCUMENTS_TO_READ = 500;
/** Reading the cells of representatives, 12 bytes each, costs as much as grouping this share of a document in SQL. */
const REPRESENTATIVES_TO_READ = 20_000;
/** More pairs are not looked up: all in the same cells are compared in SQL. */
const MAX_PAIRS = 20_000;
const PAGE = 10_000;

export interface NearInMemory {
  /** The version of the state for which the candidates are complete. */
  readonly version: string;
  /** The numbers of the candidates, by document. Documents without any are missing. */
  readonly representatives: ReadonlyMap<bigint, readonly bigint[]>;
}

/** The representatives of one collection in the searcher, for one run. */
export class RepresentativesInMemory {
  readonly #grouping: Grouping;
  #wanted: NeededInMemory | undefined;

  constructor(grouping: Grouping) {
    this.#grouping = grouping;
  }

  /**
   * @param waiting how many documents search for a group now: whether it is worth reading a collection into memory
   * @returns undefined if the searcher does not have them
   * @throws the reason of the signal
   */
  async findRepresentatives(
    state: GroupingState,
    unassigned: readonly UnassignedDocument[],
    waiting: number,
  ): Promise<NearInMemory | undefined> {
    // Without cells few documents search for a group.
    if (this.#grouping.rule.cellsOf === undefined || unassigned.length === 0) return undefined;
    const needed = await this.#needed();
    const isWorthReading = waiting * DOCUMENTS_TO_READ >= needed.documents;
    const { store, collection, signal } = this.#grouping;
    const { engine, inMemory } = store;
    const held = await inMemory.findForBackground({ engine }, collection, needed, {
      commit: state.target_commit,
      isWorthReading,
      signal,
    });
    signal?.throwIfAborted();
    if (held === undefined) return undefined;
    return inMemory.askOrUnload(held, async () => {
      if (held.cells.version !== state.version) {
        if (waiting * REPRESENTATIVES_TO_READ < needed.documents) return undefined;
        await held.cells.fill(state.version, this.#grouping.rule.module, (behind) => this.#readCells(behind));
      }
      return held.cells.version === state.version ? this.#ask(held, state.version, unassigned) : undefined;
    });
  }

  async #ask(
    held: InMemoryCollection,
    version: string,
    unassigned: readonly UnassignedDocument[],
  ): Promise<NearInMemory | undefined> {
    const dimensions = unassigned[0]?.vector.length ?? 0;
    const vectors = new Float32Array(unassigned.length * dimensions);
    const cells = new Int32Array(unassigned.reduce((sum, document) => sum + document.cells.length, 0));
    const ends = new Int32Array(unassigned.length);
    let end = 0;
    for (const [i, document] of unassigned.entries()) {
      vectors.set(document.vector, i * dimensions);
      cells.set(document.cells, end);
      end += document.cells.length;
      ends[i] = end;
    }
    const { module, maxDistance } = this.#grouping.rule;
    const near = await held.cells.near({ module, vectors, cells, ends, maxDistance, maxPairs: MAX_PAIRS });
    if (near === undefined) return undefined;
    const found = unassigned.flatMap(({ doc }, i) => (near[i]?.length ? [[doc, near[i]] as const] : []));
    return { version, representatives: new Map(found) };
  }

  async #needed(): Promise<NeededInMemory> {
    const { store, collection, rule } = this.#grouping;
    const { module } = rule;
    if (this.#wanted === undefined) {
      const [row] = await store.engine.query<{ documents: number }>(
        `select documents::float8 as documents from ${collection.sqlSchema}.descriptor_counts where module = $1`,
        [module],
        'bulk',
      );
      const dimensions = store.modules.find(({ name }) => name === module)?.descriptor?.dimensions ?? 0;
      this.#wanted = { module, documents: row?.documents ?? 0, dimensions };
    }
    return this.#wanted;
  }

  async #readCells(behind: bigint): Promise<{ readonly bytes: Uint8Array; readonly last: bigint | undefined }> {
    const { store, collection } = this.#grouping;
    const [row] = await store.engine.transaction(
      (tx) =>
        tx.query<{ bytes: Buffer | null; last: bigint | null; count: number }>(
          `select string_agg(int8send(doc) || int4send(cell), '') as bytes, max(doc) as last, count(*)::int as count
             from (select doc, cell from ${collection.sqlSchema}.representatives
                    where not removed and doc > $1 order by doc limit ${PAGE}) r`,
          [behind],
        ),
      { lane: 'bulk', withoutSort: true },
    );
    const isLast = row === undefined || row.count < PAGE;
    return { bytes: row?.bytes ?? new Uint8Array(), last: isLast ? undefined : (row.last ?? undefined) };
  }

  /** This process wrote a new state: adds its new representatives. */
  async addRepresentatives(
    from: GroupingState,
    to: GroupingState,
    came: readonly UnassignedDocument[] = [],
  ): Promise<void> {
    const { store, collection, rule } = this.#grouping;
    const { inMemory } = store;
    const held = inMemory.loadedCollection(collection.id);
    if (held === undefined || held.cells.version !== from.version) return;
    const bytes = new DataView(new ArrayBuffer(12 * came.length));
    for (const [i, { doc, cells }] of came.entries()) {
      bytes.setBigInt64(12 * i, doc);
      bytes.setInt32(12 * i + 8, cells[0] as number);
    }
    await inMemory.askOrUnload(held, () =>
      held.cells.extend(from.version, to.version, rule.module, new Uint8Array(bytes.buffer)),
    );
  }
}
