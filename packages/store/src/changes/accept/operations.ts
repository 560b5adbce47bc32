import { AkinError, type ErrorCode } from '@akin/domain';
import { OPEN_STATES } from '../../database/collections/collection-tables.ts';
import { successorOf } from '../../database/collections/collections.ts';
import { goneError } from '../../database/collections/swap.ts';
import type { Collection } from '../../database/context.ts';
import type { Row } from '../../database/engine/engine.ts';
import { FRESHNESS_COLUMNS } from '../../database/standbys/standbys.ts';
import type { KeyFilter } from '../../search/context.ts';
import { Params } from '../../search/params.ts';
import type { Store } from '../context.ts';
import { hasSetFields } from './inside.ts';

export type OperationState =
  /** Waits for an analysis. */
  | 'queued'
  | 'analyzing'
  /** Waits for the next commit. */
  | 'ready'
  | 'visible'
  | 'failed'
  /** A later operation for the same id replaced it before it was visible. */
  | 'superseded';

export interface Operation {
  readonly seq: number;
  /** Position of the document within its request, from 0. */
  readonly position: number;
  readonly kind: 'add' | 'delete' | 'delete-by-query';
  /** Null for a delete by query. */
  readonly id: string | null;
  readonly state: OperationState;
  /** Number of started analyses. */
  readonly attempt: number;
  readonly acceptedAt: Date;
  readonly error?: { readonly code: ErrorCode; readonly msg: string };
}

export interface OperationPage {
  /** In accepted order. */
  readonly operations: readonly Operation[];
  /** The `after` of the next page. Absent on the last page. */
  readonly next?: number;
}

/** An inclusive range of sequence numbers. */
export interface SeqRange {
  readonly first: number;
  readonly last: number;
}

const COLUMNS = `r.first_seq + o.position as seq, o.position, o.kind, o.id, o.attempt, r.accepted_at, o.error_code, o.error_msg,
  case when o.state <> 'applied' then o.state when o.applied_commit <= c.commit then 'visible' else 'ready' end as state`;

const CONDITIONS: Readonly<Record<OperationState, string>> = {
  queued: "o.state = 'queued'",
  analyzing: "o.state = 'analyzing'",
  ready: "(o.state = 'ready' or o.state = 'applied' and o.applied_commit > c.commit)",
  visible: "o.state = 'applied' and o.applied_commit <= c.commit",
  failed: "o.state = 'failed'",
  superseded: "o.state = 'superseded'",
};

/**
 * A page of operations in accepted order. For a key with a filter: of documents with the fields that it sets, as long as
 * they wait or have failed, because a finished operation has no document.
 *
 * @param options.state only operations in this state; default: any
 * @param options.after only operations with a greater sequence number
 * @param options.limit maximum number of operations; more than 1,000 count as 1,000
 */
export async function listOperations(
  store: Store,
  collection: Collection,
  options: { readonly state?: OperationState; readonly after?: number; readonly limit: number },
): Promise<OperationPage> {
  const limit = Math.min(Math.max(options.limit, 1), 1000);
  const rows = await selectOperations(store, collection, {
    from: (options.after ?? 0) + 1,
    to: Number.MAX_SAFE_INTEGER,
    ...(options.state === undefined ? {} : { condition: CONDITIONS[options.state] }),
    ...(store.keyFilter === undefined ? {} : { keyFilter: store.keyFilter }),
    limit: limit + 1,
  });
  const operations = rows.slice(0, limit);
  const last = operations.at(-1);
  return rows.length > limit && last !== undefined ? { operations, next: last.seq } : { operations };
}

/** @throws AkinError not-found if there is none, or it finished so long ago that it was removed */
export async function findOperation(store: Store, collection: Collection, seq: number): Promise<Operation> {
  const [operation] = await selectOperations(store, collection, { from: seq, to: seq, limit: 1 });
  if (operation !== undefined) return operation;
  throw new AkinError('not-found', `There is no operation ${collection.name}-${seq}, or it was finished long ago.`);
}

/** The sequence number of the last accepted operation. 0 before the first one. @throws AkinError not-found */
export async function lastOperation(store: Store, collection: Collection): Promise<number> {
  const sql = 'select next_seq from akin.collections where id = $1';
  const [row] = await store.engine.query<{ next_seq: bigint }>(sql, [collection.id]);
  if (row === undefined) throw goneError(collection);
  return Number(row.next_seq) - 1;
}

/**
 * Waits until no operation of a range waits for its analysis, or until each of them is visible, failed or superseded.
 *
 * If a reindex replaces the collection meanwhile, its open operations are waited for in the new one.
 *
 * @param range if it is empty, nothing is waited for
 * @param options.onPoll called before each look at the operations, at least once a second
 * @returns the failed operations, at most 1,000
 * @throws the reason of `signal` if that aborts
 */
export async function waitForOperations(
  store: Store,
  collection: Collection,
  range: SeqRange,
  options: {
    readonly until?: 'analyzed' | 'visible';
    readonly onPoll?: (collection: Collection) => Promise<void>;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Operation[]> {
  const { until = 'analyzed', onPoll, signal } = options;
  if (range.last < range.first) return [];
  let current = collection;
  for (let wait = FIRST_POLL; ; wait = Math.min(wait * 1.5, LAST_POLL)) {
    signal?.throwIfAborted();
    // Listens before the read, so that no event in between is missed.
    const changed = store.events.changed(current.id, wait, signal);
    await onPoll?.(current);
    const { open, replaced } = await progressOf(store, current, range, until);
    if (!open) break;
    const successor = replaced ? await successorOf(store, current) : undefined;
    if (successor !== undefined) {
      current = successor;
      continue;
    }
    await changed;
    // Many analyses end at the same time: read once for all of them.
    await new Promise((resolve) => setTimeout(resolve, COALESCE_MILLISECONDS));
  }
  return selectFailed(store, current, range);
}

/** The failed operations of a range, in pages in accepted order. */
export async function* failedOperations(
  store: Store,
  collection: Collection,
  { first, last }: SeqRange,
): AsyncGenerator<Operation[]> {
  for (let from = first; ; ) {
    const page = await selectFailed(store, collection, { first: from, last });
    if (page.length > 0) yield page;
    if (page.length < MAX_FAILED) return;
    from = (page.at(-1)?.seq ?? last) + 1;
  }
}

function selectFailed(store: Store, collection: Collection, { first, last }: SeqRange): Promise<Operation[]> {
  const range = { from: first, to: last };
  return selectOperations(store, collection, { ...range, condition: CONDITIONS.failed, limit: MAX_FAILED });
}

/** Poll interval in milliseconds without a notification, because another process may do the work. */
const FIRST_POLL = 100;
const LAST_POLL = 1_000;
const COALESCE_MILLISECONDS = 5;
const MAX_FAILED = 1_000;

/**
 * The commit of a standby in which each operation of a range is visible, failed or superseded: a read from a standby
 * with this commit sees them.
 *
 * @returns undefined if no standby is current enough
 */
export async function commitOfStandby(
  store: Store,
  collection: Collection,
  range: SeqRange,
): Promise<bigint | undefined> {
  const open = openSql(collection.sqlSchema, 'visible');
  const sql = `select ${FRESHNESS_COLUMNS}, next_seq > $3 and not ${open} as seen from akin.collections where id = $1`;
  const found = await store.standbys.read(collection, { isCurrent: false }, async (engine, require) => {
    const [row] = await engine.query(sql, [collection.id, range.first, range.last]);
    await require(row);
    return row?.seen === true ? (row.commit as bigint) : undefined;
  });
  return found?.value;
}

interface Progress {
  readonly open: boolean;
  readonly replaced: boolean;
}

async function progressOf(
  store: Store,
  collection: Collection,
  range: SeqRange,
  until: 'analyzed' | 'visible',
): Promise<Progress> {
  const { sqlSchema: S } = collection;
  const values = [collection.id, range.first, range.last];
  const [row] = await store.engine.query<Progress & { atomic: boolean }>(
    `select ${openSql(S, until)} as open, ${until === 'analyzed' ? readyAtomicSql(S) : 'false'} as atomic,
            exists (select from akin.collections where id = $1 and replaced_at is not null) as replaced`,
    values,
  );
  const { open, replaced, atomic } = row as Progress & { atomic: boolean };
  return { open: open || (atomic && (await isHeld(store, collection, values))), replaced };
}

/** Whether a ready atomic update waits for the change before it. */
async function isHeld(store: Store, { sqlSchema: S }: Collection, values: readonly number[]): Promise<boolean> {
  const [held] = await store.engine.query<{ open: boolean }>(
    `select ${readyAtomicSql(S, waitsForOthers(S))} as open`,
    values,
  );
  return held?.open ?? false;
}

/**
 * SQL: whether some operations from $2 to $3 of the collection $1 are not finished. Reads no documents.
 */
function openSql(S: string, until: 'analyzed' | 'visible'): string {
  const open = until === 'visible' ? "'queued', 'analyzing', 'ready'" : "'queued', 'analyzing'";
  const unpublished =
    until === 'visible' ? `or c.unpublished_operations > 0 and ${inRange(S, 'o.applied_commit > c.commit')}` : '';
  return inRequests(S, `not r.finished and ${inRange(S, `o.state in (${open})`)} ${unpublished}`);
}

/**
 * SQL: whether there are ready atomic updates from $2 to $3. Commits skip such an update until the change that it waits
 * for is finished.
 *
 * @param condition on the operation `o` of the request `r`, as SQL; default: any
 */
function readyAtomicSql(S: string, condition = 'true'): string {
  const ready = `o.atomic and o.state in ${OPEN_STATES} and o.state = 'ready'`;
  return inRequests(S, `not r.finished and ${inRange(S, `${ready} and ${condition}`)}`);
}

/**
 * SQL: whether a condition holds for a request `r` with operations from $2 to $3 of the collection $1, which is `c`.
 */
function inRequests(S: string, condition: string): string {
  return `exists (select from ${S}.requests r, akin.collections c
                   where c.id = $1 and ${overlapping(S)} and (${condition}))`;
}

/** SQL: whether a condition holds for an operation `o` of the request `r` from $2 to $3. */
function inRange(S: string, condition: string): string {
  return `exists (select from ${S}.operations o where o.request = r.request and ${IN_RANGE} and ${condition})`;
}

/**
 * SQL: whether the atomic update `o` of the request `r` must wait: an earlier change of its document is not analyzed
 * yet, and no change between the two makes that one void.
 */
function waitsForOthers(S: string): string {
  const seq = 'r.first_seq + o.position';
  return `exists (select from ${S}.operations p join ${S}.requests pr on pr.request = p.request
    where p.id = o.id and p.state in ('queued', 'analyzing') and pr.first_seq + p.position < ${seq}
      and not exists (select from ${S}.documents d where d.id = o.id and d.seq > pr.first_seq + p.position)
      and not exists (select from ${S}.barriers b where (b.id = o.id or b.query = '*:*')
                         and b.seq > pr.first_seq + p.position and b.seq < ${seq})
      and not exists (select from ${S}.operations q join ${S}.requests qr on qr.request = q.request
                       where q.id = o.id and q.state in ${OPEN_STATES} and q.state = 'ready' and not q.atomic
                         and qr.first_seq + q.position > pr.first_seq + p.position
                         and qr.first_seq + q.position < ${seq}))`;
}

/** SQL: whether the request `r` overlaps $2 to $3. The first such request has the greatest first_seq up to $2. */
export function overlapping(S: string): string {
  return `r.first_seq >= coalesce((select max(first_seq) from ${S}.requests where first_seq <= $2), $2)
    and r.first_seq <= $3 and r.first_seq + r.count > $2`;
}

/** SQL: whether the operation `o` of the request `r` is from $2 to $3. The index on (request, position) finds it. */
export const IN_RANGE = 'o.position >= $2::bigint - r.first_seq and o.position <= $3::bigint - r.first_seq';

async function selectOperations(
  store: Store,
  collection: Collection,
  {
    from,
    to,
    condition = 'true',
    limit,
    keyFilter,
  }: { from: number; to: number; condition?: string; limit: number; keyFilter?: KeyFilter },
): Promise<Operation[]> {
  const S = collection.sqlSchema;
  const params = new Params();
  for (const value of [collection.id, from, to, limit]) params.add(value, 'bigint');
  const isShown = keyFilter ? `case when o.kind = 'add' then ${hasSetFields(keyFilter, params)} end` : 'true';
  const sql = `select ${COLUMNS}
       from ${S}.requests r join akin.collections c on c.id = $1
      cross join lateral (
        select * from ${S}.operations o where o.request = r.request and ${IN_RANGE} and ${condition} and ${isShown}
         order by o.position limit $4
      ) o
      where ${overlapping(S)}
      order by r.first_seq, o.position limit $4`;
  const rows = await store.engine.transaction((tx) => tx.query(sql, params.values), { keyed: true });
  return rows.map(fromRow);
}

function fromRow(row: Row): Operation {
  return {
    seq: Number(row.seq),
    position: row.position,
    kind: row.kind,
    id: row.id,
    state: row.state,
    attempt: row.attempt,
    acceptedAt: row.accepted_at,
    ...(row.error_code === null ? {} : { error: { code: row.error_code, msg: row.error_msg } }),
  };
}
