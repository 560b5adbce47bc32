import type { CopyIn, Row, SqlValue, TransactionOptions, WritingTransaction } from './engine.ts';
import { toAkinError } from './sqlstate.ts';

/** Settings that both databases need on every connection. */
export const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  // Statements without a name are planned for their values. Named ones (see prepared.ts) are planned once, if that is
  // as good.
  plan_cache_mode: 'auto',
  // Plans that a transaction forbids (see KEYED) get a cost of 1e10, and PostgreSQL compiles statements of a high cost,
  // even for one row. With the compiler, 40 commits of 20 documents took 4 to 7 times as long, and 3 times the
  // processor time.
  jit: 'off',
  // Size of the pending list of an index of words. Searches for words scan this list.
  gin_pending_list_limit: '256kB',
  timezone: 'UTC',
  datestyle: 'ISO, YMD',
  client_min_messages: 'warning',
};

/** A larger list saves hardly any work: see docs/experiments.md. */
const LONG_PENDING_LIST = '4MB';

const KEYED = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']
  .map((name) => `; set local ${name} = off`)
  .join('');

/** Runs statements one by one, for example a client of pg. */
export interface Connection {
  /** @param name for the server, after it was sent once */
  query<R extends Row>(sql: string, params?: unknown[], name?: string): Promise<{ readonly rows: R[] }>;
  copy(query: string, maxBytes?: number): Promise<Uint8Array>;
  copyIn(copies: readonly CopyIn[]): Promise<void>;
}

/** What a connection gives. @throws AkinError */
async function answerOf<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    throw toAkinError(error);
  }
}

export function runCopyIn(client: Connection, copies: readonly CopyIn[]): Promise<void> {
  return answerOf(() => client.copyIn(copies));
}

export async function runStatement<R extends Row>(
  client: Connection,
  sql: string,
  params: readonly SqlValue[] = [],
  name?: string,
): Promise<R[]> {
  return (await answerOf(() => client.query<R>(sql, params.map(encodeParameter), name))).rows;
}

/** Statements without parameters in one round trip. @returns the rows of the last one */
async function runAll(client: Connection, sql: string): Promise<Row[]> {
  const results: unknown = await answerOf(() => client.query(sql));
  const last = Array.isArray(results) ? results.at(-1) : results;
  return (last as { rows: Row[] }).rows;
}

export interface TransactionResult<T> {
  readonly result: T;
  /** Resolves when the connection may be used for other work. Never rejects. */
  readonly free?: Promise<unknown>;
}

/**
 * A transaction on a connection of the caller. One that only reads has its result before its end is confirmed: what was
 * read is right, whatever happens to the connection.
 */
export async function runTransaction<T>(
  client: Connection,
  run: (tx: WritingTransaction, first: readonly Row[]) => Promise<T>,
  options: TransactionOptions,
): Promise<TransactionResult<T>> {
  const { snapshot, keyed, withoutSort, longPendingList, first, timeoutMilliseconds, lockTimeoutMilliseconds } =
    options;
  let begin = snapshot ? 'begin isolation level repeatable read read only' : 'begin';
  if (keyed) begin += KEYED;
  if (longPendingList) begin += `; set local gin_pending_list_limit = '${LONG_PENDING_LIST}'`;
  if (withoutSort) begin += '; set local enable_sort = off';
  if (timeoutMilliseconds !== undefined) begin += `; set local statement_timeout = ${Math.ceil(timeoutMilliseconds)}`;
  if (lockTimeoutMilliseconds !== undefined)
    begin += `; set local lock_timeout = ${Math.ceil(lockTimeoutMilliseconds)}`;
  let open = true;
  const refusal = () => Promise.reject(new Error('a statement came after the end of its transaction'));
  const tx: WritingTransaction = {
    query: (sql, params) => (open ? runStatement(client, sql, params) : refusal()),
    copyIn: (copies) => (open ? runCopyIn(client, copies) : refusal()),
    copy: (query, maxBytes) => answerOf(() => (open ? client.copy(query, maxBytes) : refusal())),
  };
  try {
    const rows = await runAll(client, first === undefined ? begin : `${begin}; ${first}`);
    const result = await run(tx, rows);
    open = false;
    const committed = runStatement(client, 'commit');
    if (snapshot) return { result, free: committed.catch(() => undefined) };
    await committed;
    return { result };
  } catch (error) {
    open = false;
    // A dead connection cannot roll back; the server does it automatically. Report the first error.
    await runStatement(client, 'rollback').catch(() => undefined);
    throw toAkinError(error);
  }
}

/** pg writes dates in local time and knows no years before 1 or after 9999 in ISO form. */
function encodeParameter(value: SqlValue): unknown {
  if (value instanceof Date) return dateText(value);
  if (Array.isArray(value)) return value.map(encodeParameter);
  return value;
}

/** A timestamp in the form of PostgreSQL: ISO in UTC, years before 1 with BC. */
function dateText(date: Date): string {
  const year = date.getUTCFullYear();
  if (year >= 1 && year <= 9999) return date.toISOString();
  const rest = date.toISOString().replace(/^[+-]?\d+/, '');
  return year >= 1 ? `${year}${rest}` : `${String(1 - year).padStart(4, '0')}${rest} BC`;
}
