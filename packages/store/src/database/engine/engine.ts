import type { CopyRows } from './copy-rows.ts';
import type { DiskSpace } from './disk-space.ts';

/**
 * The parameters of a statement. Bytes are sent in binary format, so a `halfvec` or an array may be given in wire form.
 */
export type SqlValue = null | boolean | number | bigint | string | Date | Uint8Array | readonly SqlValue[];

/**
 * A row by column name. The same on both databases: `int8` is bigint, `int2/int4/float4/float8` number, `timestamptz`
 * Date, `bytea` Buffer, arrays are arrays of these. Everything else, also `json`, `numeric`, `tsvector` and `halfvec`,
 * is text.
 */
// biome-ignore lint/suspicious/noExplicitAny: the statement decides the types; the caller names them.
export type Row = Record<string, any>;

/** Something that runs SQL: an engine (every statement is separate) or a transaction. */
export interface Queryable {
  /** Runs one statement with `$1…` parameters. Rejects with an AkinError whose `cause` is the error of the database. */
  query<R extends Row = Row>(sql: string, params?: readonly SqlValue[]): Promise<R[]>;
}

export interface CopyIn {
  /** The table, with its columns in parentheses. */
  readonly into: string;
  readonly rows: CopyRows;
}

export interface Transaction extends Queryable {
  /**
   * The result of a query without parameters, in the binary format of COPY, in memory that threads can share. For large
   * results: they are not converted to text, but must fit into memory.
   *
   * @throws AkinError too-large if it has more than `maxBytes`; the transaction goes on
   */
  copy(query: string, maxBytes?: number): Promise<Uint8Array>;
}

export interface WritingTransaction extends Transaction {
  /** Adds rows to tables, in one round trip. */
  copyIn(copies: readonly CopyIn[]): Promise<void>;
}

/**
 * PGlite has one connection. Statements of the `bulk` lane (staging, applying, removing: each at most 50 ms) get at
 * most half of its time while others wait. PostgreSQL ignores the lane.
 */
export type Lane = 'interactive' | 'bulk';

export interface TransactionOptions {
  readonly lane?: Lane;
  /** One read-only snapshot for all statements. */
  readonly snapshot?: boolean;
  /** Ends a statement that runs longer. PGlite cannot cancel one: its thread is ended, and another one is started. */
  readonly timeoutMilliseconds?: number;
  /**
   * Its statements find few rows by keys, and must use indexes: statistics lag behind bulk changes, and one plan that
   * reads a table for each chunk makes a load of many chunks quadratic.
   */
  readonly keyed?: boolean;
  /** It reads the first of very many rows: in the order of an index, without sorting all of them. */
  readonly withoutSort?: boolean;
  /**
   * Collects the words of many new documents before they are added to the index of words. That takes less work, but
   * searches for words scan all collected words: use it only while there are no searches. No effect on PGlite, where
   * nothing else could run while the words are added.
   */
  readonly longPendingList?: boolean;
  /** A statement without parameters that is sent with the beginning, in one round trip. */
  readonly first?: string;
  readonly lockTimeoutMilliseconds?: number;
}

/** The options of most background work: short pieces that find few rows by keys. */
export const BULK = { lane: 'bulk', keyed: true } as const satisfies TransactionOptions;

export interface ReadOptions {
  /** As for a transaction. */
  readonly timeoutMilliseconds: number;
  /**
   * Plans the statement once, if it is frequent. Only for statements that find few rows by keys of large tables,
   * whatever their values are: a plan that was made for small tables reads all rows, even after the tables have grown.
   */
  readonly prepared?: boolean;
  /** Whether it counts as a search for {@link Engine.sinceLastSearch}. Default: true. */
  readonly isSearch?: boolean;
}

interface PoolUsage {
  readonly total: number;
  readonly idle: number;
  /** Statements and transactions that wait for one. */
  readonly waiting: number;
}

/**
 * The database of the store: PGlite in a worker thread, or PostgreSQL. Disposing gives running statements a moment, and
 * then ends them.
 */
export interface Engine extends Queryable, AsyncDisposable {
  readonly kind: 'pglite' | 'postgres';
  /** The disk of the database. A server manages its own. */
  readonly disk?: DiskSpace;
  query<R extends Row = Row>(sql: string, params?: readonly SqlValue[], lane?: Lane): Promise<R[]>;
  /** Adds rows to tables, all or none of them, in one round trip. */
  copyIn(copies: readonly CopyIn[], options?: { readonly lane?: Lane }): Promise<void>;
  /** One statement that only reads, as a separate snapshot. */
  read<R extends Row = Row>(sql: string, params: readonly SqlValue[], options: ReadOptions): Promise<R[]>;
  /**
   * Milliseconds since the last search (`read`, or a transaction with `snapshot`) began: work that blocks PGlite waits
   * for a pause.
   */
  sinceLastSearch(): number;
  /**
   * Cancels the running statements: they reject with unavailable, and their transactions roll back. No effect on
   * PGlite, which cannot cancel statements.
   */
  cancelStatements(): Promise<void>;
  /** Undefined on PGlite, which has no pool. */
  poolUse(): PoolUsage | undefined;
  /**
   * Commits if `run` resolves, rolls back if it rejects. Never await anything but `tx` inside, because it uses a
   * connection.
   */
  transaction<T>(
    run: (tx: WritingTransaction, first: readonly Row[]) => Promise<T>,
    options?: TransactionOptions,
  ): Promise<T>;
}
