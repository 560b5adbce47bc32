import { AkinError } from '@akin/domain';
import { LIVE, OPEN_STATES } from '../../database/collections/collection-tables.ts';
import { type QuotaRow, quotaOf } from '../../database/collections/quota.ts';
import type { Collection } from '../../database/context.ts';
import { textArray } from '../../database/engine/binary.ts';
import type { Queryable } from '../../database/engine/engine.ts';

/*
 * The quota of a collection: documents, and bytes of them. Accepted changes that are not applied yet count too, so
 * concurrent requests cannot exceed the limit together. Commits keep the totals of all documents. Pending changes are
 * counted only near the limit, where an upper bound of their number is not enough.
 */

/** The documents and bytes of a collection, including changes that are applied and not published. */
export interface Usage extends QuotaRow {
  readonly documents: bigint;
  readonly bytes: bigint;
  readonly next_seq: bigint;
  /** Bytes of all changes that were ever accepted. */
  readonly accepted_bytes: bigint;
}

/** The columns of {@link Usage}, as SQL over a row of `akin.collections`. */
export const USAGE = `next_seq, accepted_bytes, max_documents, max_bytes, documents + unpublished_documents as documents,
  bytes + unpublished_bytes as bytes`;

/** A request that is about to be accepted. */
interface Incoming {
  readonly request: bigint;
  /** Number of documents in it, including updates. */
  readonly adds: number;
  readonly bytes: number;
}

/** Number of changes that are checked together: some milliseconds on PGlite. */
const BATCH = 1_000;

/**
 * Refuses a request that would exceed the quota. Requests with only deletes pass. Requests that only update documents
 * pass the limit of documents. Nothing may be accepted at the same time: the caller holds the lock of the collection's
 * row.
 *
 * @throws AkinError quota-exceeded
 */
export async function requireQuota(
  tx: Queryable,
  collection: Collection,
  usage: Usage,
  incoming: Incoming,
): Promise<void> {
  const { name } = collection;
  const { maxDocuments, maxBytes } = quotaOf(usage);
  if (incoming.adds === 0 || (maxDocuments === null && maxBytes === null)) return;
  const open = await maxPending(tx, collection, usage);
  if (maxDocuments !== null) {
    const headroom = maxDocuments - Number(usage.documents);
    if (
      open.changes + incoming.adds > headroom &&
      (await exceedsHeadroom(tx, collection, incoming.request, headroom))
    ) {
      throw quotaError(
        `The collection ${name} may have ${countOf(maxDocuments, 'document')}, and would have more: delete documents, or raise its quota. Existing documents can be updated.`,
      );
    }
  }
  if (maxBytes !== null) {
    const headroom = maxBytes - Number(usage.bytes);
    const isMore = async () => (await openBytes(tx, collection)) + incoming.bytes > headroom;
    if (incoming.bytes > headroom || (open.bytes + incoming.bytes > headroom && (await isMore()))) {
      throw quotaError(
        `The collection ${name} may have ${countOf(maxBytes, 'byte')}, and would have more: delete documents, or raise its quota.`,
      );
    }
  }
}

const countOf = (count: number, unit: string) => `${count} ${unit}${count === 1 ? '' : 's'}`;

function quotaError(what: string): AkinError {
  return new AkinError(
    'quota-exceeded',
    `${what} Nothing in the request was accepted. Deletes count after their commit.`,
  );
}

/** Upper bounds of the number and the bytes of pending changes: all since the first unfinished request count. */
async function maxPending(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  { next_seq, accepted_bytes }: Usage,
): Promise<{ readonly changes: number; readonly bytes: number }> {
  const [first] = await tx.query<{ first_seq: bigint; bytes_before: bigint | null }>(
    `select first_seq, bytes_before from ${S}.requests
      where not finished and first_seq is not null order by first_seq limit 1`,
  );
  if (first === undefined) return { changes: 0, bytes: 0 };
  const { first_seq, bytes_before } = first;
  const bytes = bytes_before === null ? Number.POSITIVE_INFINITY : Number(accepted_bytes - bytes_before);
  return { changes: Number(next_seq - first_seq), bytes };
}

/** Whether a request contains new documents, and these exceed the limit together with the pending ones. */
async function exceedsHeadroom(
  tx: Queryable,
  collection: Collection,
  request: bigint,
  headroom: number,
): Promise<boolean> {
  const S = collection.sqlSchema;
  if (!(await hasNew(tx, collection, request))) return false;
  let found = 0;
  for (let last = ''; found <= headroom; ) {
    const page = await tx.query<{ id: string }>(
      `select distinct o.id from ${S}.operations o join ${S}.requests r using (request)
        where o.id > $2 and o.kind = 'add' and o.state in ${OPEN_STATES} and (r.first_seq is not null or r.request = $1)
        order by o.id limit ${BATCH}`,
      [request, last],
    );
    found += page.length - (await countLive(tx, collection, page));
    const end = page.at(-1);
    if (end === undefined || page.length < BATCH) break;
    last = end.id;
  }
  return found > headroom;
}

/** Whether a request contains a document that does not exist yet. */
async function hasNew(tx: Queryable, collection: Collection, request: bigint): Promise<boolean> {
  for (let last = -1; ; ) {
    const page = await tx.query<{ position: number; id: string }>(
      `select position, id from ${collection.sqlSchema}.operations
        where request = $1 and position > $2 and kind = 'add' order by position limit ${BATCH}`,
      [request, last],
    );
    const end = page.at(-1);
    if (end === undefined) return false;
    const ids = new Set(page.map(({ id }) => id));
    if ((await countLive(tx, collection, page)) < ids.size) return true;
    last = end.position;
  }
}

async function countLive(
  tx: Queryable,
  { sqlSchema: S }: Collection,
  rows: readonly { readonly id: string }[],
): Promise<number> {
  const [found] = await tx.query<{ live: bigint }>(
    `select count(*) as live from ${S}.documents where id = any($1::text[]) and valid_to = ${LIVE}`,
    [textArray(rows.map(({ id }) => id))],
  );
  return Number(found?.live ?? 0);
}

/** Bytes of the pending changes, as they were sent. */
async function openBytes(tx: Queryable, { sqlSchema: S }: Collection): Promise<number> {
  const [row] = await tx.query<{ bytes: number }>(
    `select coalesce(sum(o.bytes), 0)::float8 as bytes from ${S}.operations o join ${S}.requests r using (request)
      where o.state in ${OPEN_STATES} and r.first_seq is not null`,
  );
  return row?.bytes ?? 0;
}
