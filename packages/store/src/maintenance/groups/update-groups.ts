import { AdaptiveBatchSize } from '../../changes/commit/adaptive-batch-size.ts';
import type { Store } from '../../changes/context.ts';
import { LIVE } from '../../database/collections/collection-tables.ts';
import { isOther } from '../../database/collections/models.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import type { Collection } from '../../database/context.ts';
import { decodeHalfvec, docsOf } from '../../database/engine/binary.ts';
import { BULK, type Queryable } from '../../database/engine/engine.ts';
import { groupChunk } from './group-chunk.ts';
import { removeFromGroups } from './remove-from-groups.ts';
import { RepresentativesInMemory } from './representatives-in-memory.ts';
import { type Grouping, type GroupRule, NO_CELL, ruleByCalibrations } from './rule.ts';
import { type GroupingState, isSame, lockState, readState, writeState } from './state.ts';
import { readUnassigned, type UnassignedDocument } from './unassigned.ts';

const PAGE = 2_000;
/** `last_doc` of the state when the replaced documents are out of their groups, and no new one has its group. */
const EXPIRED_LEFT = -1n;
/** Number of representatives that get cells at a time. */
const CELLS_PAGE = 500;

interface RunOptions {
  readonly milliseconds: number;
  readonly signal?: AbortSignal;
  /** Called with the number of grouped documents, and whether the searcher found their neighbours. */
  readonly onGrouped?: ((documents: number, inMemory: boolean) => void) | undefined;
}

/**
 * Updates the groups of near-duplicates to the last commit, or as far as the time allows: the next call continues
 * there. Reads only what commits changed since: removed documents leave first, then new ones find their groups, then
 * the followers of removed representatives. Each step is a short transaction under one lock, so that a process may end
 * at any moment, and two processes do not disturb each other.
 *
 * If a collection has descriptors of a model that this process lacks, the rule that made the groups stays in force,
 * with the distances of that model for the same scores. Such a collection gets no new pictures, so few documents search
 * for a group: mostly documents whose representative has left. They are compared with all representatives. If the
 * calibration of the model was never stored, groups do not change.
 *
 * @returns whether the groups are current with the last commit, or cannot be updated
 */
export async function updateGroups(
  store: Store,
  collection: Collection,
  rule: GroupRule,
  options: RunOptions,
): Promise<boolean> {
  await store.engine.disk?.requireSpace('work');
  // A store without the modules has nothing to compare.
  const needed = [rule.module, ...(rule.secondModule ? [rule.secondModule.module] : [])];
  const described = store.modules.filter(({ descriptor }) => descriptor !== undefined).map(({ name }) => name);
  if (!needed.every((name) => described.includes(name))) return true;
  const schema = await loadSchema(store, collection);
  const others = needed.filter((name) => isOther(store, schema, name));
  const fitting = others.length === 0 ? rule : ruleByCalibrations(rule, others, schema.calibrations);
  if (fitting === undefined) return true;
  const run = new GroupingRun({ store, collection, rule: fitting, signal: options.signal }, options);
  let state = await run.begin();
  if (state !== undefined && state.as_of_commit < state.target_commit) await run.assignCells();
  while (state !== undefined && state.as_of_commit < state.target_commit) {
    state = await run.advance(state);
    if (run.isOver) return false;
    // There may have been another commit, or another process may have been faster.
    state = await run.begin();
  }
  return true;
}

class GroupingRun {
  readonly #grouping: Grouping;
  readonly #deadline: number;
  readonly #onGrouped: RunOptions['onGrouped'];
  readonly #batchSize: AdaptiveBatchSize;
  readonly #inMemory: RepresentativesInMemory;
  /** The documents of the next chunk, which are read while the searcher and the database process this one. */
  #ahead: { readonly docs: readonly bigint[]; readonly unassigned: Promise<UnassignedDocument[]> } | undefined;
  #steps = 0;

  constructor(grouping: Grouping, { milliseconds, onGrouped }: RunOptions) {
    this.#grouping = grouping;
    this.#deadline = performance.now() + milliseconds;
    this.#onGrouped = onGrouped;
    this.#inMemory = new RepresentativesInMemory(grouping);
    this.#batchSize =
      grouping.store.engine.kind === 'pglite'
        ? new AdaptiveBatchSize(20, 500, undefined, 10)
        : new AdaptiveBatchSize(50, 1_000, 150, 50);
  }

  /** Whether the run has to end: it was aborted, or its time is over and it has made at least one step. */
  get isOver(): boolean {
    return this.#grouping.signal?.aborted === true || (this.#steps > 0 && performance.now() >= this.#deadline);
  }

  /** Gives cells to the representatives that a process without their model made. */
  async assignCells(): Promise<void> {
    const { store, collection, rule, signal } = this.#grouping;
    const { sqlSchema: S } = collection;
    const { cellsOf } = rule;
    if (cellsOf === undefined) return;
    for (let count = CELLS_PAGE; count === CELLS_PAGE && signal?.aborted !== true; ) {
      count = await store.engine.transaction(async (tx) => {
        await lockState(tx, collection);
        const rows = await tx.query<{ doc: bigint; vector: Buffer }>(
          `select doc, halfvec_send(vector) as vector from ${S}.representatives where cell = ${NO_CELL} limit ${CELLS_PAGE}`,
        );
        if (rows.length === 0) return 0;
        await tx.query(
          `update ${S}.representatives r set cell = t.cell from unnest($1::bigint[], $2::int[]) as t (doc, cell)
            where r.doc = t.doc`,
          [docsOf(rows), rows.map(({ vector }) => cellsOf(decodeHalfvec(vector))[0] ?? NO_CELL)],
        );
        // Their data in memory is no longer valid.
        await writeState(tx, collection, 'last_doc = last_doc');
        return rows.length;
      }, BULK);
    }
  }

  /**
   * Sets a new target when the last one was reached, and starts again if the rule has changed. A process without the
   * model of the descriptors keeps the name of the rule: one with the model then continues where this one ended.
   *
   * @returns undefined if the collection was dropped
   */
  async begin(): Promise<GroupingState | undefined> {
    const { sqlSchema: S, id } = this.#grouping.collection;
    const [seen] = await this.#grouping.store.engine.query<{ commit: bigint }>(
      'select commit from akin.collections where id = $1',
      [id],
    );
    if (seen === undefined) return undefined;
    const state = await readState(this.#grouping.store.engine, this.#grouping.collection);
    const { name, cellsOf } = this.#grouping.rule;
    const rule = cellsOf ? name : state.rule;
    if (state.rule === rule && (state.as_of_commit < state.target_commit || state.as_of_commit === seen.commit))
      return state;
    const begun = await this.#grouping.store.engine.transaction(
      async (tx) => {
        const from = await lockState(tx, this.#grouping.collection);
        if (!isSame(from, state)) return { from, to: from };
        const isForeign = from.rule !== rule;
        if (isForeign) await tx.query(`truncate ${S}.followers, ${S}.representatives, ${S}.ungrouped`);
        const assignments = `rule = $1, as_of_commit = $2, last_doc = 0,
           target_commit = (select commit from akin.collections where id = $3)`;
        const to = await writeState(tx, this.#grouping.collection, assignments, [
          rule,
          isForeign ? 0n : from.as_of_commit,
          id,
        ]);
        return { from, to };
      },
      { lane: 'bulk' },
    );
    // Cells of another rule have no meaning.
    if (begun.from.rule === begun.to.rule) await this.#inMemory.addRepresentatives(begun.from, begun.to);
    return begun.to;
  }

  /** Continues until the target is reached. @returns undefined if the time was over, or another process was faster */
  async advance(from: GroupingState): Promise<GroupingState | undefined> {
    const begun = from.last_doc === 0n ? await this.#takeOutExpired(from) : from;
    if (begun === undefined) return undefined;
    const grouped = await this.#groupAdded(begun);
    if (grouped === undefined || this.isOver) return undefined;
    const state = await this.#groupOrphans(grouped);
    if (state === undefined || this.isOver) return undefined;
    return this.#finish(state);
  }

  /**
   * Removes documents from their groups if a commit after `as_of_commit` has replaced or deleted them. The state
   * records that this step is done: if the rows are kept for long, the next call must not repeat it.
   *
   * @returns undefined if it was aborted, or another process was faster
   */
  async #takeOutExpired(from: GroupingState): Promise<GroupingState | undefined> {
    const { sqlSchema: S } = this.#grouping.collection;
    const { as_of_commit, target_commit: target } = from;
    let last = { valid_to: as_of_commit, doc: LIVE };
    // This loop ignores the deadline, because its position is not stored.
    while (this.#grouping.signal?.aborted !== true) {
      const expired = await this.#grouping.store.engine.query<{ valid_to: bigint; doc: bigint }>(
        `select valid_to, doc from ${S}.documents
          where valid_to < ${LIVE} and valid_to <= $3 and valid_to >= $1 and (valid_to > $1 or doc > $2) order by valid_to, doc limit ${PAGE}`,
        [last.valid_to, last.doc, target],
        'bulk',
      );
      const end = expired.at(-1);
      if (end === undefined) {
        return this.#write(from, (tx) => writeState(tx, this.#grouping.collection, 'last_doc = $1', [EXPIRED_LEFT]));
      }
      last = end;
      await this.#inChunks(
        docsOf(expired),
        async (docs) => {
          const leave = (tx: Queryable) => removeFromGroups(tx, this.#grouping.collection, docs);
          await this.#grouping.store.engine.transaction(leave, BULK);
          return this.#grouping.signal?.aborted !== true;
        },
        { toTheEnd: true },
      );
    }
    return undefined;
  }

  /** Finds groups for the documents that commits after `as_of_commit` added, in the order of their numbers. */
  #groupAdded(from: GroupingState): Promise<GroupingState | undefined> {
    // The first pass reads all documents. `+ 0` prevents the index by commit, so they are read by number.
    const brought = from.as_of_commit === 0n ? 'd.valid_from + 0 <= $2' : 'd.valid_from > $1 and d.valid_from <= $2';
    const sql = `select d.doc from ${this.#grouping.collection.sqlSchema}.documents d
      where $1::int8 >= 0 and ${brought} and d.valid_to > $2 and d.doc > $3 order by d.doc limit ${PAGE}`;
    const valuesOf = (state: GroupingState) => [state.as_of_commit, state.target_commit, state.last_doc];
    return this.#groupPages(from, sql, valuesOf, (docs) => docs.at(-1) as bigint);
  }

  /** Finds groups for followers of removed representatives, and for documents that were taken out of a group. */
  #groupOrphans(from: GroupingState): Promise<GroupingState | undefined> {
    const { sqlSchema: S } = this.#grouping.collection;
    const sql = `select f.doc from ${S}.representatives r join ${S}.followers f on f.representative = r.doc where r.removed
      union select doc from ${S}.ungrouped order by doc limit ${PAGE}`;
    return this.#groupPages(
      from,
      sql,
      () => [],
      (_, state) => state.last_doc,
    );
  }

  /**
   * Finds groups for all documents that a statement returns, page by page, until it returns none.
   *
   * @param lastDoc the new `last_doc` of the state after some of them
   * @returns undefined if the time was over, or another process was faster
   */
  async #groupPages(
    from: GroupingState,
    sql: string,
    valuesOf: (state: GroupingState) => readonly bigint[],
    lastDoc: (docs: readonly bigint[], state: GroupingState) => bigint,
  ): Promise<GroupingState | undefined> {
    let state = from;
    while (!this.isOver) {
      const rows = await this.#grouping.store.engine.query<{ doc: bigint }>(sql, valuesOf(state), 'bulk');
      if (rows.length === 0) return state;
      // If the page is full, more may wait.
      const waiting = rows.length < PAGE ? rows.length : Number.POSITIVE_INFINITY;
      const done = await this.#inChunks(docsOf(rows), async (docs, ahead) => {
        const next = await this.#group(docs, ahead, state, lastDoc(docs, state), waiting);
        if (next !== undefined) state = next;
        return next !== undefined;
      });
      if (!done) return undefined;
    }
    return undefined;
  }

  async #group(
    docs: readonly bigint[],
    ahead: readonly bigint[],
    state: GroupingState,
    upTo: bigint,
    waiting: number,
  ): Promise<GroupingState | undefined> {
    const read = (some: readonly bigint[]) => readUnassigned(this.#grouping, some);
    const unassigned = await (this.#ahead?.docs === docs ? this.#ahead.unassigned : read(docs));
    this.#ahead = { docs: ahead, unassigned: ahead.length > 0 ? read(ahead) : Promise.resolve([]) };
    // The failure is handled where the result is awaited.
    this.#ahead.unassigned.catch(() => undefined);
    const inMemory = this.#inMemory;
    const chunk = { docs, unassigned, state, upTo, waiting, inMemory };
    const grouped = await groupChunk(this.#grouping, chunk);
    if (grouped !== undefined) this.#onGrouped?.(docs.length, grouped.inMemory);
    return grouped?.state;
  }

  #finish(state: GroupingState): Promise<GroupingState | undefined> {
    const { sqlSchema: S } = this.#grouping.collection;
    return this.#write(state, async (tx) => {
      // A decision may have taken documents out of their groups since they were last read.
      const left = await tx.query(`select from ${S}.ungrouped limit 1`);
      if (left.length > 0) return undefined;
      await tx.query(
        `delete from ${S}.representatives r
          where r.removed and not exists (select from ${S}.followers f where f.representative = r.doc)`,
      );
      return writeState(tx, this.#grouping.collection, 'as_of_commit = target_commit, last_doc = 0');
    });
  }

  /** Writes a new state under the lock. @returns undefined if another process was faster, or `write` returns it */
  async #write(
    state: GroupingState,
    write: (tx: Queryable) => Promise<GroupingState | undefined>,
  ): Promise<GroupingState | undefined> {
    const written = await this.#grouping.store.engine.transaction(async (tx) => {
      const from = await lockState(tx, this.#grouping.collection);
      if (!isSame(from, state)) return undefined;
      const to = await write(tx);
      return to && { from, to };
    }, BULK);
    if (written !== undefined) await this.#inMemory.addRepresentatives(written.from, written.to);
    return written?.to;
  }

  /**
   * Processes a list in pieces of the adaptive batch size, with a pause after each during searches. @param work also
   * gets the next piece @returns false if the work or the time ended it
   */
  async #inChunks(
    docs: readonly bigint[],
    work: (docs: readonly bigint[], ahead: readonly bigint[]) => Promise<boolean>,
    { toTheEnd = false } = {},
  ): Promise<boolean> {
    let next = docs.slice(0, this.#batchSize.rows);
    for (let at = 0; at < docs.length; ) {
      if (at > 0 && this.isOver && !toTheEnd) return false;
      const chunk = next;
      const end = at + chunk.length;
      next = docs.slice(end, end + this.#batchSize.rows);
      const began = performance.now();
      if (!(await work(chunk, next))) return false;
      const took = performance.now() - began;
      this.#batchSize.learn(chunk.length, took);
      this.#steps++;
      at = end;
      await this.#grouping.store.throttle.pauseAfter(took, this.#grouping.signal);
    }
    return true;
  }
}
