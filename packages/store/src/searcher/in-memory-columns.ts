import { setImmediate } from 'node:timers/promises';
import { readValues, type ValueList } from '@akin/searcher';
import type { Transaction } from '../engine/engine.ts';
import type { CollectionHandle } from './collection-handle.ts';
import type { Range, ReadCollection } from './read-rows.ts';
import { type RowSource, readFrom } from './row-source.ts';

/** The condition of a query on one column: documents match that have one of some values, or that have none of them. */
export interface ValueTest {
  /** A column of documents with one value for each document. */
  readonly column: string;
  /** The values, as the database writes them. Values that meet one of the conditions count too. */
  readonly values: ReadonlySet<string>;
  readonly conditions: readonly ((value: string) => boolean)[];
  readonly isExcluded: boolean;
}

/** What a search gives so that values in memory can answer its filters. */
export interface ValueReader {
  readonly source: RowSource;
  /** Undefined: the filter asks for something else. */
  test(index: number): ValueTest | undefined;
  /** The values of the rows that a range of commits added: see {@link readValueLists}. */
  readonly read: ReadValues;
}

type ReadValues = (column: string, range: Range, max: number) => Promise<Uint8Array>;

interface InMemoryColumn {
  readonly number: number;
  readonly ordinals: Map<string, number>;
  /** It has the values of the rows that were added up to this commit. */
  commit: bigint;
  /** It can answer from this commit on: rows that ended earlier may be missing. */
  from: bigint;
  /** Maximum number of its values. */
  max: number;
}

/**
 * A filter on a column with more values matches few documents, and the database answers it quickly. Each new filter may
 * compare all values, on the event loop.
 */
const MAX_VALUES = 1_024;
/** Maximum number of values by which a result is collapsed. */
const MAX_GROUPS = 1_000_000;
/** About what a value takes in this process, which keeps each once. */
const VALUE_BYTES = 100;
/** Maximum bytes of a row in a column with many values. */
const WIDE_ROW_BYTES = 5;
/** Values that are read from a message before other requests get their turn. */
const VALUES_AT_A_TIME = 5_000;
/** Maximum number of columns in memory per collection: each takes two bytes per row. */
const MAX_COLUMNS = 16;
/** Maximum bytes of a row in a column. */
const ROW_BYTES = 2.5;
/** A column is read after this number of new filters on it. */
const MIN_USES = 2;
/** A column that was not worth its memory, or was soon dropped, is not read again at once. */
const PAUSE_MILLISECONDS = 15 * 60_000;
/** Documents per message to the searcher. Searches wait a millisecond or two for each message. */
const AT_A_TIME = 10_000;

/**
 * The columns whose values the searcher has in memory, for each row. They answer new filters that ask for some values
 * of one column. Columns are read in the background when filters use them.
 */
export class InMemoryColumns {
  readonly #handle: CollectionHandle;
  /** By name. The most recently used one is the last. */
  readonly #columns = new Map<string, InMemoryColumn>();
  /** How often filters used columns that are not in memory, and when these may be read. */
  readonly #asked = new Map<string, { times: number; notBefore: number }>();
  #reading: Promise<void> = Promise.resolve();
  /** The columns that searches are reading, to collapse by them. */
  readonly #forGroups = new Map<string, Promise<unknown>>();
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
   * do not match. A filter that excludes values is kept as its complement.
   *
   * @returns `sent` resolves when the searcher has the matches; later requests may use them at once. Undefined if the
   * column is not in memory for that commit, if the filter is kept as its complement, or if the database updates it
   * faster
   */
  async setMatches(
    filter: { readonly number: number; readonly commit: bigint; isComplement?: boolean },
    { column: name, values, conditions, isExcluded }: ValueTest,
    commit: bigint,
    reader: ValueReader,
  ): Promise<{ readonly sent: Promise<void> } | undefined> {
    const column = this.#columns.get(name);
    if (column === undefined || commit < column.from || column.ordinals.size > MAX_VALUES) return undefined;
    if (column.commit < commit) {
      // Later commits add few matches, and the database returns those of several filters in one statement.
      if (filter.commit >= 0n) return undefined;
      if (!(await this.#catchUp(name, column, commit, reader.read))) return undefined;
    }
    if (this.#columns.get(name) !== column || (filter.isComplement ?? isExcluded) !== isExcluded) return undefined;
    this.#columns.delete(name);
    this.#columns.set(name, column);
    // Nothing is awaited until the message is sent: the column could be dropped, or the filter become a complement.
    filter.isComplement = isExcluded;
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
   * The column that has the value of every row that a commit sees, to collapse by it. It is read if it is missing, in
   * the transaction of the search.
   *
   * @param read reads values: see {@link readValueLists}
   * @returns a function that gives its number, as long as it is there; undefined if it has too many values, or there is
   * no memory for it
   */
  async forGroups(name: string, commit: bigint, read: ReadValues): Promise<(() => number | undefined) | undefined> {
    // A search that reads it now may fail, or end before this one.
    while (this.#forGroups.has(name)) await this.#forGroups.get(name)?.catch(() => undefined);
    const known = this.#columns.get(name);
    const isUsable = known !== undefined && commit >= known.from;
    if (isUsable) known.max = MAX_GROUPS;
    if (!isUsable || known.commit < commit) {
      const reading = isUsable ? this.#catchUp(name, known, commit, read) : this.#readNow(name, commit, read);
      this.#forGroups.set(name, reading);
      try {
        if (!(await reading)) return undefined;
      } finally {
        this.#forGroups.delete(name);
      }
    }
    const column = this.#columns.get(name);
    if (column === undefined) return undefined;
    this.#columns.delete(name);
    this.#columns.set(name, column);
    return () => (this.#columns.get(name) === column ? column.number : undefined);
  }

  /** Reads a column in the transaction of a search. @returns false if it has too many values or does not fit */
  async #readNow(name: string, commit: bigint, read: ReadValues): Promise<boolean> {
    const asked = this.#asked.get(name);
    if (asked !== undefined && asked.times < 0 && performance.now() < asked.notBefore) return false;
    const { begun, rows } = this.#handle.state();
    const bytes =
      rows * WIDE_ROW_BYTES > this.#handle.free()
        ? undefined
        : await read(name, { after: -1n, upTo: commit }, MAX_GROUPS);
    if (bytes === undefined || this.#handle.state().begun !== begun) return false;
    const column: InMemoryColumn = { number: this.#next++, ordinals: new Map(), commit, from: commit, max: MAX_GROUPS };
    const isSame = () => this.#handle.state().begun === begun;
    if (!(await this.#take(column, bytes, isSame))) {
      // The next searches need not read all values to find that they are too many.
      this.#asked.set(name, { times: -1, notBefore: performance.now() + PAUSE_MILLISECONDS });
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
  async #catchUp(name: string, column: InMemoryColumn, commit: bigint, read: ReadValues): Promise<boolean> {
    const bytes = await read(name, { after: column.commit, upTo: commit }, column.max);
    const isThere = () => this.#columns.get(name) === column;
    if (!(await this.#take(column, bytes, isThere))) {
      if (isThere()) await this.#forget(name, column);
      return false;
    }
    if (commit > column.commit + 1n) column.from = commit;
    column.commit = column.commit > commit ? column.commit : commit;
    return true;
  }

  /** Records that a filter used a column that is not in memory. The second use starts a read of the column. */
  recordMiss(name: string, source: RowSource): void {
    // This would block the embedded database, whose collections are small.
    if (this.#columns.has(name) || source.engine.kind === 'pglite') return;
    const asked = this.#asked.get(name) ?? { times: 0, notBefore: 0 };
    this.#asked.set(name, asked);
    if (++asked.times < MIN_USES || performance.now() < asked.notBefore) return;
    this.#pause(name);
    // After a failure the column is read at another time. Until then searches ask the database.
    this.#reading = this.#reading.then(() => this.#read(name, source)).catch(() => undefined);
  }

  async #read(name: string, source: RowSource): Promise<void> {
    const { collection } = this.#handle;
    const { commit, begun } = this.#handle.state();
    if (commit < 0n || this.#columns.has(name)) return;
    const found = await readFrom(source, collection, commit, async (tx) => {
      if (!(await hasFewValues(tx, collection, name))) return undefined;
      if ((await countRows(tx, collection)) * ROW_BYTES > this.#handle.free()) return undefined;
      const bytes = await readValueLists(tx, collection, name, { after: -1n, upTo: commit });
      // Rows may have been removed that commits before this one see.
      const [row] = await tx.query<{ commit: bigint }>('select commit from akin.collections where id = $1', [
        collection.id,
      ]);
      return row && { bytes, from: row.commit };
    });
    if (found === undefined || this.#handle.state().begun !== begun) return;
    const column = { number: this.#next++, ordinals: new Map(), commit, from: found.from, max: MAX_VALUES };
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
    for (const [name, column] of this.#columns) {
      if (this.#columns.size <= MAX_COLUMNS) return;
      await this.#forget(name, column);
    }
  }

  async #forget(name: string, { number }: InMemoryColumn): Promise<void> {
    this.#columns.delete(name);
    this.#pause(name);
    await this.#handle.change({ kind: 'drop-values', column: number });
  }

  #pause(name: string): void {
    this.#asked.set(name, { times: 0, notBefore: performance.now() + PAUSE_MILLISECONDS });
  }

  /** @returns false if there are too many values, or the column was dropped in the meantime */
  async #take({ number, ordinals, max }: InMemoryColumn, bytes: Uint8Array, isThere: () => boolean): Promise<boolean> {
    if (!isThere()) return false;
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
    for (const part of messages) {
      if (part.length === 0) continue;
      await this.#handle.change({ kind: 'values', column: number, bytes, lists: part });
      await this.#handle.afterGrowth();
      if (!isThere()) return false;
    }
    return true;
  }
}

/** By the statistics of the database. A negative number there is a share of all rows. */
async function hasFewValues(tx: Transaction, { sqlSchema }: ReadCollection, column: string): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from pg_stats where schemaname = $1 and tablename = 'documents' and attname = $2
        and n_distinct > 0 and n_distinct <= ${MAX_VALUES}`,
    [sqlSchema, column],
  );
  return rows.length > 0;
}

/** About how many rows are read. */
async function countRows(tx: Transaction, { id }: ReadCollection): Promise<number> {
  const [row] = await tx.query<{ documents: bigint }>('select documents from akin.collections where id = $1', [id]);
  return Number(row?.documents ?? 0);
}

/**
 * The values of a column with the documents that a range of commits added, in the format of @akin/searcher. Documents
 * that a later commit ended are among them as long as their rows exist.
 *
 * @param max maximum number of values that may be in memory: one more is read
 */
export function readValueLists(
  tx: Transaction,
  { sqlSchema }: ReadCollection,
  column: string,
  { after, upTo }: Range,
  max: number = MAX_VALUES,
): Promise<Uint8Array> {
  return tx.copy(
    `select d.${column}::text, string_agg(int8send(d.doc), '') from ${sqlSchema}.documents d
      where d.valid_from > ${after} and d.valid_from <= ${upTo} and d.${column} is not null
      group by d.${column} limit ${max + 1}`,
  );
}
