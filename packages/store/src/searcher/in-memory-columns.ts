import { readValues, type Searcher, type ValueList } from '@akin/searcher';
import type { Transaction } from '../engine/engine.ts';
import { isOwn, type Range, type ReadCollection } from './read-rows.ts';
import { type RowSource, readFrom } from './row-source.ts';

/** The condition of a query on one column: documents match that have one of some values, or that have none of them. */
export interface ValueTest {
  /** A column of documents with one value for each document. */
  readonly column: string;
  /** These, as the database writes them, and those of which any condition is true. */
  readonly values: ReadonlySet<string>;
  readonly conditions: readonly ((value: string) => boolean)[];
  readonly isExcluded: boolean;
}

/** How the filters of a search may be answered by values in memory. */
export interface ValueReader {
  readonly source: RowSource;
  /** Undefined: the filter asks for something else. */
  test(index: number): ValueTest | undefined;
  /** The values of rows that came in a range: see {@link readValueLists}. */
  read(column: string, range: Range): Promise<Uint8Array>;
}

/** A column that is held. */
interface InMemoryColumn {
  readonly number: number;
  readonly ordinals: Map<string, number>;
  /** It has the values of rows that came up to this commit. */
  commit: bigint;
  /** Rows that earlier commits alone see may be missing. */
  from: bigint;
}

/** The collection whose columns these are: see InMemoryCollection. */
interface Holder {
  readonly collection: ReadCollection;
  /** Its last commit, and how often all was read. */
  state(): { readonly commit: bigint; readonly begun: number };
  change(request: ColumnChange): Promise<void>;
  /** It takes more memory than before. @throws SearcherError where there is no more */
  grown(): Promise<void>;
  /** Bytes that may be taken before anything is given back for them. */
  free(): number;
}
type ColumnKind = 'values' | 'drop-values' | 'filter-by-values';
type OfKind<T> = T extends { readonly kind: ColumnKind } ? Omit<T, 'key'> : never;
type ColumnChange = OfKind<Parameters<Searcher['change']>[1]>;

/**
 * A filter on a column with more values matches few documents, and the database answers it quickly. Each new filter may
 * compare all values, on the event loop.
 */
const MAX_VALUES = 1_024;
/** Columns that are held of a collection: each takes two bytes a row. */
const MAX_COLUMNS = 16;
/** Maximum bytes of a row in a column. */
const ROW_BYTES = 2.5;
/** New filters on a column before it is read. */
const TIMES = 2;
/** A column that was not worth its memory, or was soon dropped, is not read again at once. */
const PAUSE_MILLISECONDS = 15 * 60_000;
/** Documents of one message: searches wait a millisecond or two for it. */
const AT_A_TIME = 10_000;

/**
 * The columns whose values the searcher has in memory, for each row. They answer a new filter that asks which values a
 * document has. Columns are read in the background when filters use them.
 */
export class InMemoryColumns {
  readonly #holder: Holder;
  /** The one that was used last is the last. */
  readonly #columns = new Map<string, InMemoryColumn>();
  /** Since when, and how often, filters used columns that are not held. */
  readonly #asked = new Map<string, { times: number; notBefore: number }>();
  #reading: Promise<void> = Promise.resolve();
  /** Takes memory, but does not answer yet. */
  #incoming: InMemoryColumn | undefined;
  #next = 0;

  constructor(holder: Holder) {
    this.#holder = holder;
  }

  /** Those that are held. */
  get names(): readonly string[] {
    return [...this.#columns.keys()];
  }

  /** Resolves when what is being read has been read. */
  get whenRead(): Promise<void> {
    return this.#reading;
  }

  /** All is read again, and these are not there any more. */
  clear(): void {
    this.#columns.clear();
    this.#incoming = undefined;
  }

  /** Gives all back. */
  async drop(): Promise<void> {
    const all = [...this.#columns.values(), ...(this.#incoming ? [this.#incoming] : [])];
    const numbers = all.map(({ number }) => number);
    for (const name of this.#columns.keys()) this.#pause(name);
    this.clear();
    await Promise.all(numbers.map((column) => this.#holder.change({ kind: 'drop-values', column })));
  }

  /**
   * Sets the matches of a filter as of a commit: only those that have some value, so that rows whose values are
   * not known yet do not. Of a filter that excludes values its complement is held.
   *
   * @returns `sent` resolves when the searcher has the matches; later requests may use them at once. Undefined if the
   * column is not in memory for that commit, if the filter is kept as its complement, or if the database updates it faster
   */
  async answer(
    filter: { readonly number: number; readonly commit: bigint; isComplement?: boolean },
    { column: name, values, conditions, isExcluded }: ValueTest,
    commit: bigint,
    reader: ValueReader,
  ): Promise<{ readonly sent: Promise<void> } | undefined> {
    const column = this.#columns.get(name);
    if (column === undefined || commit < column.from) return undefined;
    if (column.commit < commit) {
      // Matches that came since are few, and those of several filters are read in one statement.
      if (filter.commit >= 0n) return undefined;
      const bytes = await reader.read(name, { after: column.commit, upTo: commit });
      const isThere = () => this.#columns.get(name) === column;
      if (!(await this.#take(column, bytes, isThere))) {
        if (isThere()) await this.#forget(name, column);
        return undefined;
      }
      if (commit > column.commit + 1n) column.from = commit;
      column.commit = column.commit > commit ? column.commit : commit;
    }
    if (this.#columns.get(name) !== column || (filter.isComplement ?? isExcluded) !== isExcluded) return undefined;
    this.#columns.delete(name);
    this.#columns.set(name, column);
    // From here to the message nothing is waited for: the column could be given back, or another search decide.
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
      sent: this.#holder.change({ kind: 'filter-by-values', filter: filter.number, column: column.number, wanted }),
    };
  }

  /** Filters used a column that is not in memory: the second use starts a read of it. */
  note(name: string, source: RowSource): void {
    // The embedded database would be blocked by this, and its collections are small.
    if (this.#columns.has(name) || source.engine.kind === 'pglite') return;
    const asked = this.#asked.get(name) ?? { times: 0, notBefore: 0 };
    this.#asked.set(name, asked);
    if (++asked.times < TIMES || performance.now() < asked.notBefore) return;
    this.#pause(name);
    // What fails is read at another time, and searches ask the database.
    this.#reading = this.#reading.then(() => this.#read(name, source)).catch(() => undefined);
  }

  async #read(name: string, source: RowSource): Promise<void> {
    const { collection } = this.#holder;
    const { commit, begun } = this.#holder.state();
    if (commit < 0n || this.#columns.has(name)) return;
    const found = await readFrom(source, collection, commit, async (tx) => {
      if (!(await hasFewValues(tx, collection, name))) return undefined;
      if ((await countRows(tx, collection)) * ROW_BYTES > this.#holder.free()) return undefined;
      const bytes = await readValueLists(tx, collection, name, { after: -1n, upTo: commit });
      // Rows may have been removed that commits before this one see.
      const [row] = await tx.query<{ commit: bigint }>('select commit from akin.collections where id = $1', [
        collection.id,
      ]);
      return row && { bytes, from: row.commit };
    });
    if (found === undefined || this.#holder.state().begun !== begun) return;
    const column: InMemoryColumn = { number: this.#next++, ordinals: new Map(), commit, from: found.from };
    this.#incoming = column;
    const isIncoming = () => this.#incoming === column;
    const isWhole = await this.#take(column, found.bytes, isIncoming);
    if (!isIncoming()) return;
    this.#incoming = undefined;
    if (!isWhole) return this.#holder.change({ kind: 'drop-values', column: column.number });
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
    await this.#holder.change({ kind: 'drop-values', column: number });
  }

  /** Prevents the reading of a column for some time. */
  #pause(name: string): void {
    this.#asked.set(name, { times: 0, notBefore: performance.now() + PAUSE_MILLISECONDS });
  }

  /** @returns false if there are too many values, or the column was dropped in the meantime */
  async #take({ number, ordinals }: InMemoryColumn, bytes: Uint8Array, isThere: () => boolean): Promise<boolean> {
    if (!isThere()) return false;
    let lists: ValueList[] = [];
    let count = 0;
    const messages: ValueList[][] = [lists];
    // The answer has hardly more values than may be held.
    readValues(bytes, (value, docs) => {
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
    });
    if (ordinals.size > MAX_VALUES) return false;
    for (const part of messages) {
      if (part.length === 0) continue;
      await this.#holder.change({ kind: 'values', column: number, bytes, lists: part });
      await this.#holder.grown();
      if (!isThere()) return false;
    }
    return true;
  }
}

/** By the statistics of the database, in which a negative number stands for a share of all rows. */
async function hasFewValues(tx: Transaction, { sqlSchema }: ReadCollection, column: string): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from pg_stats where schemaname = $1 and tablename = 'documents' and attname = $2
        and n_distinct > 0 and n_distinct <= ${MAX_VALUES}`,
    [sqlSchema, column],
  );
  return rows.length > 0;
}

/** About how many rows are read. */
async function countRows(tx: Transaction, { id, part }: ReadCollection): Promise<number> {
  const [row] = await tx.query<{ documents: bigint }>('select documents from akin.collections where id = $1', [id]);
  return Number(row?.documents ?? 0) / (part?.of ?? 1);
}

/**
 * The values of a column with the documents that came in a range, in the form that @akin/searcher reads: of those that
 * a later commit ended too, while they are there. If there are more values than are worth their memory, one more is
 * read.
 */
export function readValueLists(
  tx: Transaction,
  collection: ReadCollection,
  column: string,
  { after, upTo }: Range,
): Promise<Uint8Array> {
  const own = collection.part === undefined ? '' : `and ${isOwn(collection, 'd.doc', collection.part.from - 1)}`;
  return tx.copy(
    `select d.${column}::text, string_agg(int8send(d.doc), '') from ${collection.sqlSchema}.documents d
      where d.valid_from > ${after} and d.valid_from <= ${upTo} and d.${column} is not null ${own}
      group by d.${column} limit ${MAX_VALUES + 1}`,
  );
}
