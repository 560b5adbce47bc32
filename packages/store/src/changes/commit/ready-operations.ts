import { shardOfOperation, shardsOf } from '../../database/collections/shards.ts';
import type { Collection } from '../../database/context.ts';
import { BULK } from '../../database/engine/engine.ts';
import { Params } from '../../search/params.ts';
import type { Store } from '../context.ts';

export interface ReadyOperation {
  readonly seq: bigint;
  readonly request: bigint;
  readonly position: number;
  readonly kind: 'add' | 'delete' | 'delete-by-query';
  readonly id: string | null;
  readonly doc: bigint | null;
  readonly document: string | null;
  /** The outputs of its analysis or of its import, see `pending-analysis.ts`. */
  readonly analysis: string | null;
  readonly acceptedAt: Date;
  readonly leavesTombstones: boolean;
  /** Whether it changes single fields of the document before it. */
  readonly atomic: boolean;
  /** The version that its document keeps. Null: its own number. */
  readonly keptVersion: bigint | null;
}

/** Less than any sequence number. Those of copied documents are negative, see reindex. */
export const BEFORE_ALL = -(2n ** 61n);

const PAGE = 200;

export interface UnfinishedRequest {
  readonly request: bigint;
  readonly first_seq: bigint;
  readonly count: number;
  /** The `traceparent` of the span that accepted it. */
  readonly traceparent: string | null;
}

/** Unfinished requests that were accepted before `bound`, in accepted order, in pages. */
export async function* requestPages(
  store: Store,
  collection: Collection,
  bound: bigint,
): AsyncGenerator<UnfinishedRequest[]> {
  let last = BEFORE_ALL;
  for (;;) {
    const rows = await store.engine.query<UnfinishedRequest>(
      `select request, first_seq, count, traceparent from ${collection.sqlSchema}.requests
        where not finished and first_seq > $1 and first_seq < $2 order by first_seq limit ${PAGE}`,
      [last, bound],
      'bulk',
    );
    const end = rows.at(-1);
    if (end === undefined) return;
    yield rows;
    last = end.first_seq;
  }
}

/** Which operations of a page of requests to read. */
export interface OperationRange {
  /** Only those with higher numbers. */
  readonly after: bigint;
  /** Only those with lower numbers. */
  readonly endSeq: bigint;
  /** Only adds and deletes by id of one shard. */
  readonly shard?: number;
}

/**
 * The next ready operations of a page of requests, in accepted order.
 *
 * The cursor is for speed: applied operations are no longer ready, but their index entries exist until a vacuum, and
 * scanning them for each chunk would take quadratic time. For the same reason a statement reads only as many requests
 * as should suffice: it reads up to `limit` operations of each before it sorts them.
 */
export async function nextReady(
  store: Store,
  collection: Collection,
  page: readonly UnfinishedRequest[],
  range: OperationRange,
  limit: number,
): Promise<ReadyOperation[]> {
  const found: ReadyOperation[] = [];
  const shards = range.shard === undefined ? 1 : shardsOf(collection);
  const rest = page.filter(
    ({ first_seq, count }) => first_seq + BigInt(count) > range.after + 1n && first_seq < range.endSeq,
  );
  // If many of their operations wait for analysis, more and more requests are read at a time.
  for (let from = 0, size = limit; from < rest.length && found.length < limit; size *= 2) {
    let to = from;
    for (let count = 0; to < rest.length && count < size * shards; to++) count += remaining(rest[to], range);
    const requests = rest.slice(from, to).map(({ request }) => request);
    found.push(...(await readReady(store, collection, requests, range, limit - found.length)));
    from = to;
  }
  return found;
}

/** Number of operations of a request after the cursor. */
function remaining(request: UnfinishedRequest | undefined, { after }: OperationRange): number {
  if (request === undefined) return 0;
  const { first_seq, count } = request;
  return first_seq > after ? count : Number(first_seq + BigInt(count) - 1n - after);
}

async function readReady(
  store: Store,
  collection: Collection,
  requests: readonly bigint[],
  { after, endSeq, shard }: OperationRange,
  limit: number,
): Promise<ReadyOperation[]> {
  const S = collection.sqlSchema;
  const params = new Params();
  const [first, end, most] = [params.add(after, 'int8'), params.add(endSeq, 'int8'), params.add(limit, 'int8')];
  const ofShard =
    shard === undefined ? '' : `and ${shardOfOperation(shardsOf(collection))} = ${params.add(shard, 'int8')}`;
  const sql = `select r.first_seq + o.position as seq, o.*, r.accepted_at as "acceptedAt", r.leaves_tombstones as "leavesTombstones"
       from (select request, first_seq, accepted_at, leaves_tombstones from ${S}.requests
              where request = any(${params.add(requests, 'bigint[]')})
                and first_seq + count > ${first} + 1 and first_seq < ${end}) r
      cross join lateral (
        select request, position, kind, id, doc, document, analysis, atomic, kept_version as "keptVersion" from ${S}.operations
         where request = r.request and state = 'ready' and position > ${first} - r.first_seq
           and position < ${end} - r.first_seq ${ofShard}
         order by position limit ${most}
      ) o
      order by seq limit ${most}`;
  return store.engine.transaction((tx) => tx.query<ReadyOperation>(sql, params.values), BULK);
}
