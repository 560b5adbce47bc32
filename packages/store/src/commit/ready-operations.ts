import { shardOf, shardsOf } from '../collections/shards.ts';
import type { Collection, Store } from '../context.ts';
import { type OutputsColumns, readOutputs } from '../objects/packed-rows.ts';

/** An operation whose turn it is. */
export interface ReadyOperation {
  readonly seq: bigint;
  readonly request: bigint;
  readonly position: number;
  readonly kind: 'add' | 'delete' | 'delete-by-query';
  readonly id: string | null;
  readonly doc: bigint | null;
  readonly document: string | null;
  /** Outputs of its analysis or of its import, as JSON text. */
  readonly outputs: string | null;
  /** Whether its outputs should be in a pack, and are not there. */
  readonly isLost: boolean;
  /** Of the outputs, see `parseOutputs`. */
  readonly mark: string | null;
  readonly acceptedAt: Date;
  /** Whether a delete leaves tombstones. */
  readonly tombstones: boolean;
  /** Whether it changes single fields of the document before it. */
  readonly atomic: boolean;
  /** The version that its document keeps; null: its own number. */
  readonly keptVersion: bigint | null;
  /** In which shard its document is; 0 where there is one, and for a delete by query. */
  readonly shard: number;
}

type ReadyRow = Omit<ReadyOperation, 'acceptedAt' | 'keptVersion' | 'isLost'> &
  OutputsColumns & { readonly accepted_at: Date; readonly kept_version: bigint | null };

/** Before the first sequence number: those of documents that were copied are below 0, see reindex. */
export const BEFORE_ALL = -(2n ** 61n);

/** Requests that are looked through in one statement. */
const PAGE = 200;

export interface UnfinishedRequest {
  readonly request: bigint;
  /** Of the span that accepted it. */
  readonly trace: string | null;
}

/** Unfinished requests that were accepted before `bound`, in accepted order, page by page. */
export async function* requestPages(
  store: Store,
  collection: Collection,
  bound: bigint,
): AsyncGenerator<UnfinishedRequest[]> {
  let last = BEFORE_ALL;
  for (;;) {
    const rows = await store.engine.query<UnfinishedRequest & { first_seq: bigint }>(
      `select request, first_seq, trace from ${collection.sqlSchema}.requests
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

/**
 * The next operations of a page of requests that are ready, in accepted order, behind a given one.
 *
 * The cursor is for speed: what was applied is not ready any more, but its index entries are still there until a
 * vacuum, and walking over them for each chunk would take quadratic time.
 */
export async function nextReady(
  store: Store,
  collection: Collection,
  requests: readonly bigint[],
  after: ReadyOperation | undefined,
  limit: number,
): Promise<ReadyOperation[]> {
  const S = collection.sqlSchema;
  const shards = shardsOf(collection);
  const shard = shards === 1 ? '0' : `coalesce(${shardOf('o.id', shards)}, 0)::int4`;
  const sql = `select r.first_seq + o.position as seq, o.*, r.accepted_at, r.tombstones, x.json as outputs, x.pack, x.start, x.size,
              x.mark,
              ${shard} as shard
       from (select request, first_seq, accepted_at, tombstones from ${S}.requests
              where request = any($1::bigint[]) and first_seq + count > $2::int8 + 1) r
      cross join lateral (
        select request, position, kind, id, doc, document, atomic, kept_version from ${S}.operations
         where request = r.request and state = 'ready' and position > $2::int8 - r.first_seq
         order by position limit $3
      ) o
      left join ${S}.outputs x on x.doc = o.doc
      order by seq limit $3`;
  const rows = await store.engine.transaction(
    (tx) => tx.query<ReadyRow>(sql, [requests, after?.seq ?? BEFORE_ALL, limit]),
    {
      lane: 'bulk',
      keyed: true,
    },
  );
  const outputs = await readOutputs(store, rows);
  return rows.map(({ accepted_at, kept_version, pack, start, size, ...row }, i) => ({
    ...row,
    outputs: outputs[i] ?? null,
    isLost: outputs[i] === undefined,
    acceptedAt: accepted_at,
    keptVersion: kept_version,
  }));
}
