import type { DiskSpace } from './disk-space.ts';

/** What goes into a statement: bytes are sent in binary format, so a `halfvec` or an array may be given in wire form. */
export type SqlValue = null | boolean | number | bigint | string | Date | Uint8Array | readonly SqlValue[];

/**
 * A row by column name. On both engines alike: `int8` is bigint, `int2/int4/float4/float8` number, `timestamptz` Date,
 * `bytea` Buffer, arrays arrays of these; everything else, `json`, `numeric`, `tsvector` and `halfvec` too, is text.
 */
// biome-ignore lint/suspicious/noExplicitAny: the statement decides the types; the caller names them.
export type Row = Record<string, any>;

/** Something that answers SQL: an engine (every statement by itself) or a transaction. */
export interface Queryable {
  /** Runs one statement with `$1…` parameters. Rejects with AkinError whose `cause` is the engine's own error. */
  query<R extends Row = Row>(sql: string, params?: readonly SqlValue[]): Promise<R[]>;
}

/** A transaction. */
export interface Transaction extends Queryable {
  /**
   * What a query without parameters selects, in the binary form of COPY, and in memory that threads can share. For many
   * bytes: they do not become text on their way. All of them are held at once.
   */
  copy(query: string): Promise<Uint8Array>;
}

/**
 * PGlite has one connection. Statements of the `bulk` lane (staging, applying, removing: each at most 50 ms) get at
 * most half of its time while anything else waits; PostgreSQL ignores the lane.
 */
export type Lane = 'interactive' | 'bulk';

export interface TransactionOptions {
  readonly lane?: Lane;
  /** One read-only snapshot for all statements. */
  readonly snapshot?: boolean;
  /** Ends a statement that runs longer. PGlite cannot cancel one: there its thread ends, and another one is started. */
  readonly timeoutMilliseconds?: number;
  /**
   * Its statements find few rows by keys, and must do so through indexes: statistics lag behind bulk changes, and one
   * plan that reads a table for each chunk makes a load of many chunks quadratic.
   */
  readonly keyed?: boolean;
  /** Takes the first of very many rows, and must read them in the order of an index instead of sorting all of them. */
  readonly inOrder?: boolean;
  /**
   * Lets the words of many new documents wait before they go into the index of words. That takes less work, but searches
   * for words look through all that wait: where nobody searches. PGlite does not: nothing else could run while they go in.
   */
  readonly gathersWords?: boolean;
  /** A statement without parameters that goes along with the beginning, in one round trip. */
  readonly first?: string;
  /** Waits no longer for locks. */
  readonly lockTimeoutMilliseconds?: number;
}

export interface ReadOptions {
  /** As for a transaction. */
  readonly timeoutMilliseconds: number;
  /**
   * It finds few rows by keys of tables that are not small, whatever its values are: where it comes often it is planned
   * once. A plan for small tables would read all of what they grow to.
   */
  readonly prepared?: boolean;
  /** Whether it counts as a search, for {@link Engine.sinceLastSearch}; it does when this is not given. */
  readonly isSearch?: boolean;
}

/** Connections of a pool. */
export interface PoolUse {
  /** Open ones. */
  readonly total: number;
  readonly idle: number;
  /** Statements and transactions that wait for one. */
  readonly waiting: number;
}

/**
 * The database behind the store: PGlite in a worker thread, or PostgreSQL. Disposing gives statements at work a moment,
 * and then ends them.
 */
export interface Engine extends Queryable, AsyncDisposable {
  readonly kind: 'pglite' | 'postgres';
  /** The disk that the database is on; a server looks after its own. */
  readonly disk?: DiskSpace;
  query<R extends Row = Row>(sql: string, params?: readonly SqlValue[], lane?: Lane): Promise<R[]>;
  /** One statement that only reads, a snapshot of its own. */
  read<R extends Row = Row>(sql: string, params: readonly SqlValue[], options: ReadOptions): Promise<R[]>;
  /** Milliseconds since the last search (`read`, or a transaction with `snapshot`) began: what blocks PGlite waits for a pause. */
  sinceLastSearch(): number;
  /**
   * Cancels the statements at work: they reject with unavailable, and their transactions roll back. PGlite cannot cancel
   * any; there nothing happens.
   */
  cancelStatements(): Promise<void>;
  /** Undefined on PGlite, which has no pool. */
  poolUse(): PoolUse | undefined;
  /** Commits when `run` resolves, rolls back when it rejects. Never await anything but `tx` inside: it holds a connection. */
  transaction<T>(run: (tx: Transaction, first: readonly Row[]) => Promise<T>, options?: TransactionOptions): Promise<T>;
}
