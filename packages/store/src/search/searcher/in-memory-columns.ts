import { setImmediate } from 'node:timers/promises';
import { AkinError } from '@akin/domain';
import { readValues, type ValueList } from '@akin/searcher';
import { currentCommit } from '../../database/collections/current-commit.ts';
import type { Transaction } from '../../database/engine/engine.ts';
import type { CollectionHandle } from './collection-handle.ts';
import type { Range } from './read-rows.ts';
import { type RowSource, readFrom } from './row-source.ts';
import { countRows, hasFewValues, MAX_VALUES, readValueLists, type ValueColumn } from './value-lists.ts';
import { ValueOrder } from './value-order.ts';

/** The condition of a query on one column: documents match that have one of some values. */
export interface ValueTest {
  readonly column: ValueColumn;
  /** The values, as `readValueLists` writes them. Values that meet one of the conditions count too. */
  readonly values: ReadonlySet<string>;
  readonly conditions: readonly ((value: string) => boolean)[];
}

/** A column that a search may use until it awaits something. */
export interface WideColumn {
  readonly number: number;
  readonly order: () => ValueOrder;
}

interface InMemoryColumn extends ValueColumn {
  readonly number: number;
  readonly ordinals: Map<string, number>;
  /** The first values, which were read in order: this many. */
  inOrder: number;
  /** Made when a search needs it. */
  order?: ValueOrder;
  /** It has the values of the rows that were added up to this commit. */
  commit: bigint;
  /** It can answer from this commit on: rows that ended earlier may be missing. */
  from: bigint;
  /** Maximum number of its values. */
  max: number;
}

/** Maximum number of values of a column by which a result is collapsed, or ordered then. */
const MAX_WIDE = 1_000_000;
/** About what a value takes in this process, which keeps each once. */
const VALUE_BYTES = 100;
/** Maximum bytes of the texts of a column with many values, as they are read. */
const MAX_VALUE_BYTES = VALUE_BYTES * MAX_WIDE;
/** Bytes of a row, and of what surrounds a value, as they are read. */
const READ_ROW_BYTES = 30;
/** Maximum bytes of a row in a column with many values. */
const WIDE_ROW_BYTES = 5;
/** Values that are read from a message before other requests get their turn. */
const VALUES_AT_A_TIME = 5_000;
/** Maximum number of columns in memory per collection: each takes two bytes per row. */
const MAX_COLUMNS = 16;
/** Maximum bytes of a row in a column. */
const ROW_BYTES = 2.5;
/** A column that was not worth its memory, or was soon dropped, is not read again before this time has passed. */
const PAUSE_MILLISECONDS = 15 * 60_000;
/** Documents per message to the searcher. Searches wait a millisecond or two for each message. */
const AT_A_TIME = 10_000;

/**
 * The columns whose values the searcher has in memory, for each row. They answer new filters that ask for some values
 * of one column, and say by which columns groups are collapsed and ordered. A filter has its column read in the
 * background, a collapsed search reads its columns itself.
 */
export class InMemoryColumns {
  readonly #handle: CollectionHandle;
  /** By name. The most recently used one is the last. */
  readonly #columns = new Map<string, InMemoryColumn>();
  /** When columns may be read for filters, and for groups. */
  readonly #notBefore = new Map<string, number>();
  readonly #notWideBefore = new Map<string, number>();
  #reading: Promise<void> = Promise.resolve();
  /** The columns that searches are reading. */
  readonly #wide = new Map<string, Promise<unknown>>();
  /** The column being read: it takes memory, and does not answer yet. */
  #incoming: InMemoryColumn | undefined;
  #next = 0;

  constructor(handle: CollectionHandle) {
    this.#handle = handle;
  }

  get names(): readonly string[] {
    return [...this.#columns.keys()];
  }

  /** Of their values in this process; the searcher counts those of their rows. */
  get bytes(): number {
    return [...this.#columns.values()].reduce((sum, { ordinals }) => sum + VALUE_BYTES * ordinals.size, 0);
  }

  /** Resolves when no column is being read, or the read has failed. */
  get untilRead(): Promise<void> {
    return this.#reading;
  }

  /** Forgets all columns, because the searcher has dropped them: the collection is read again. */
  clear(): void {
    this.#columns.clear();
    this.#incoming = undefined;
  }

  async drop(): Promise<void> {
    const all = [...this.#columns.values(), ...(this.#incoming ? [this.#incoming] : [])];
    const numbers = all.map(({ number }) => number);
    for (const name of this.#columns.keys()) this.#pause(name);
    this.clear();
    await Promise.all(numbers.map((column) => this.#handle.change({ kind: 'drop-values', column })));
  }

  /**
   * Sets the matches of a filter as of a commit: rows with a wanted value, so that rows whose values are not known yet
   * do not match.
   *
   * @returns `sent` resolves when the searcher has the matches; later requests may use them at once. Undefined if the
   * column is not in memory for that commit, or if the database updates it faster
   */
  async setMatches(
    filter: { readonly number: number; readonly commit: bigint },
    { column: { sql: name }, values, conditions }: ValueTest,
    commit: bigint,
    tx: Transaction,
  ): Promise<{ readonly sent: Promise<void> } | undefined> {
    const column = this.#columns.get(name);
    if (column === undefined || commit < column.from || column.ordinals.size > MAX_VALUES) return undefined;
    if (column.commit < commit) {
      // Later commits add few matches, and the database returns those of several filters in one statement.
      if (filter.commit >= 0n) return undefined;
      if (!(await this.#catchUp(column, commit, tx))) return undefined;
    }
    if (this.#columns.get(name) !== column) return undefined;
    this.#touch(column);
    // Nothing is awaited until the message is sent: the column could be dropped.
    const wanted = new Uint8Array(column.ordinals.size + 1);
    for (const value of values) {
      const ordinal = column.ordinals.get(value);
      if (ordinal !== undefined) wanted[ordinal] = 1;
    }
    if (conditions.length > 0) {
      for (const [value, ordinal] of column.ordinals) if (conditions.some((is) => is(value))) wanted[ordinal] = 1;
    }
    return {
      sent: this.#handle.change({ kind: 'filter-by-values', filter: filter.number, column: column.number, wanted }),
    };
  }

  /**
   * Columns that have the value of every row that a commit sees, to collapse by them and to order by them. Those that
   * are missing are read in the transaction of the search.
   *
   * @returns a function that gives them, as long as they are there; undefined if one has too many values, or there is no
   * memory for it
   */
  async loadWide(
    columns: readonly ValueColumn[],
    commit: bigint,
    tx: Transaction,
  ): Promise<(() => readonly WideColumn[] | undefined) | undefined> {
    const loaded: InMemoryColumn[] = [];
    for (const column of columns) {
      const one = await this.#loadWide(column, commit, tx);
      if (one === undefined) return undefined;
      loaded.push(one);
    }
    return () => {
      if (loaded.some((column) => this.#columns.get(column.sql) !== column)) return undefined;
      return loaded.map((column) => ({
        number: column.number,
        order: () => (column.order ??= new ValueOrder(column.type, column.ordinals, column.inOrder)),
      }));
    };
  }

  async #loadWide(asked: ValueColumn, commit: bigint, tx: Transaction): Promise<InMemoryColumn | undefined> {
    const { sql: name } = asked;
    // A search that reads it now may fail, or end before this one.
    while (this.#wide.has(name)) await this.#wide.get(name)?.catch(() => undefined);
    const known = this.#columns.get(name);
    const isUsable = known !== undefined && commit >= known.from;
    if (isUsable) known.max = MAX_WIDE;
    if (!isUsable || known.commit < commit) {
      const reading = isUsable ? this.#catchUp(known, commit, tx) : this.#readNow(asked, commit, tx);
      this.#wide.set(name, reading);
      try {
        if (!(await reading)) return undefined;
      } finally {
        this.#wide.delete(name);
      }
    }
    const column = this.#columns.get(name);
    if (column !== undefined) this.#touch(column);
    return column;
  }

  /** Reads a column in the transaction of a search. @returns false if it has too many values or does not fit */
  async #readNow(asked: ValueColumn, commit: bigint, tx: Transaction): Promise<boolean> {
    const { sql: name } = asked;
    if (performance.now() < (this.#notWideBefore.get(name) ?? 0)) return false;
    const { begun, rows } = this.#handle.state();
    const isSame = () => this.#handle.state().begun === begun;
    if (rows * WIDE_ROW_BYTES > this.#handle.free()) return false;
    const bytes = await this.#valuesOf(asked, { after: -1n, upTo: commit }, MAX_WIDE, tx);
    if (!isSame()) return false;
    const column = this.#create(asked, commit, commit, MAX_WIDE);
    if (bytes === undefined || !(await this.#take(column, bytes, isSame))) {
      // The next searches need not read all values to find that they are too many.
      this.#notWideBefore.set(name, performance.now() + PAUSE_MILLISECONDS);
      if (isSame()) await this.#handle.change({ kind: 'drop-values', column: column.number });
      return false;
    }
    const before = this.#columns.get(name);
    this.#columns.set(name, column);
    if (before !== undefined) await this.#handle.change({ kind: 'drop-values', column: before.number });
    await this.#dropOldest();
    return true;
  }

  /** Adds the values of the rows that later commits added. @returns false if the column is not there any more */
  async #catchUp(column: InMemoryColumn, commit: bigint, tx: Transaction): Promise<boolean> {
    const bytes = await this.#valuesOf(column, { after: column.commit, upTo: commit }, column.max, tx);
    const isThere = () => this.#columns.get(column.sql) === column;
    if (bytes === undefined || !(await this.#take(column, bytes, isThere))) {
      if (isThere()) await this.#forget(column);
      return false;
    }
    if (commit > column.commit + 1n) column.from = commit;
    column.commit = column.commit > commit ? column.commit : commit;
    return true;
  }

  /** @returns undefined if they are too long */
  async #valuesOf(column: ValueColumn, range: Range, max: number, tx: Transaction): Promise<Uint8Array | undefined> {
    const maxBytes = MAX_VALUE_BYTES + READ_ROW_BYTES * this.#handle.state().rows;
    try {
      return await readValueLists(tx, this.#handle.collection, column, range, max, maxBytes);
    } catch (error) {
      if (error instanceof AkinError && error.code === 'too-large') return undefined;
      throw error;
    }
  }

  /** Reads a column in the background, because a filter could have used it. */
  recordMiss(column: ValueColumn, source: RowSource): void {
    const { sql: name } = column;
    // This would block the embedded database, whose collections are small.
    if (this.#columns.has(name) || source.engine.kind === 'pglite') return;
    if (performance.now() < (this.#notBefore.get(name) ?? 0)) return;
    this.#pause(name);
    // After a failure the column is read at another time. Until then searches ask the database.
    this.#reading = this.#reading.then(() => this.#read(column, source)).catch(() => undefined);
  }

  #create({ sql, type }: ValueColumn, commit: bigint, from: bigint, max: number): InMemoryColumn {
    return { sql, type, number: this.#next++, ordinals: new Map(), inOrder: 0, commit, from, max };
  }

  #touch(column: InMemoryColumn): void {
    this.#columns.delete(column.sql);
    this.#columns.set(column.sql, column);
  }

  async #read(asked: ValueColumn, source: RowSource): Promise<void> {
    const { collection } = this.#handle;
    const { sql: name } = asked;
    const { commit, begun } = this.#handle.state();
    if (commit < 0n || this.#columns.has(name)) return;
    const found = await readFrom(source, collection, commit, async (tx) => {
      if (!(await hasFewValues(tx, collection, name))) return undefined;
      if ((await countRows(tx, collection)) * ROW_BYTES > this.#handle.free()) return undefined;
      const bytes = await readValueLists(tx, collection, asked, { after: -1n, upTo: commit });
      // Rows may have been removed that commits before this one see.
      return { bytes, from: await currentCommit(tx, collection) };
    });
    if (found === undefined || this.#handle.state().begun !== begun) return;
    const column = this.#create(asked, commit, found.from, MAX_VALUES);
    this.#incoming = column;
    const isIncoming = () => this.#incoming === column;
    const isWhole = await this.#take(column, found.bytes, isIncoming);
    if (!isIncoming()) return;
    this.#incoming = undefined;
    if (!isWhole) return this.#handle.change({ kind: 'drop-values', column: column.number });
    this.#columns.set(name, column);
    await this.#dropOldest();
  }

  async #dropOldest(): Promise<void> {
    for (const column of this.#columns.values()) {
      if (this.#columns.size <= MAX_COLUMNS) return;
      await this.#forget(column);
    }
  }

  async #forget({ sql: name, number }: InMemoryColumn): Promise<void> {
    this.#columns.delete(name);
    this.#pause(name);
    await this.#handle.change({ kind: 'drop-values', column: number });
  }

  #pause(name: string): void {
    this.#notBefore.set(name, performance.now() + PAUSE_MILLISECONDS);
  }

  /** @returns false if there are too many values, or the column was dropped in the meantime */
  async #take(column: InMemoryColumn, bytes: Uint8Array, isThere: () => boolean): Promise<boolean> {
    if (!isThere()) return false;
    const { number, ordinals, max } = column;
    const isFirst = ordinals.size === 0;
    let lists: ValueList[] = [];
    let count = 0;
    let read = 0;
    const messages: ValueList[][] = [lists];
    // There is at most one value more than may be in memory.
    for (const [value, docs] of readValues(bytes)) {
      if (++read % VALUES_AT_A_TIME === 0) await setImmediate();
      const ordinal = ordinals.get(value) ?? ordinals.size + 1;
      ordinals.set(value, ordinal);
      for (let from = 0; from < docs.count; from += AT_A_TIME) {
        const part = Math.min(AT_A_TIME, docs.count - from);
        if (count + part > AT_A_TIME) {
          lists = [];
          count = 0;
          messages.push(lists);
        }
        lists.push({ ordinal, at: docs.at + 8 * from, count: part });
        count += part;
      }
    }
    if (ordinals.size > max || !isThere()) return false;
    if (isFirst) {
      column.inOrder = ordinals.size;
      const rowBytes = max === MAX_WIDE ? WIDE_ROW_BYTES : ROW_BYTES;
      if (ordinals.size * VALUE_BYTES + this.#handle.state().rows * rowBytes > this.#handle.free()) return false;
    }
    for (const part of messages) {
      if (part.length === 0) continue;
      await this.#handle.change({ kind: 'values', column: number, bytes, lists: part });
      await this.#handle.afterGrowth();
      if (!isThere()) return false;
    }
    return true;
  }
}
