import { AkinError, type ErrorDetail, quote } from '@akin/domain';
import { LIVE, OPEN_STATES } from '../collections/collection-tables.ts';
import type { Collection, CollectionSchema, KeyFilter, Store } from '../context.ts';
import { textArray } from '../engine/binary.ts';
import type { Queryable } from '../engine/engine.ts';
import { keyFilterFor } from '../keys/key-filter.ts';
import { Params } from '../search/params.ts';
import { keyConditions } from '../search/visible.ts';

/** Number of operations that are checked together. */
const BATCH = 500;
const MAX_DETAILS = 100;
const RETRY_SECONDS = 5;

/**
 * Makes sure that staged operations of a key with a filter change only documents inside: an id is free, or all accepted
 * changes of it made documents inside. Nothing may be accepted at the same time: the caller holds the lock of the
 * collection's row.
 *
 * @throws AkinError conflict with a detail for each id that is not the key's; with a time to try again if a pending
 * change decides
 */
export async function requireInside(
  tx: Queryable,
  store: Store,
  collection: Collection,
  schema: CollectionSchema,
  request: bigint,
): Promise<void> {
  if (store.keyFilter === undefined) return;
  const details: ErrorDetail[] = [];
  let retry = false;
  for (let last = -1; ; ) {
    const staged = await tx.query<{ position: number; id: string }>(
      `select position, id from ${collection.sqlSchema}.operations
        where request = $1 and position > $2 and id is not null order by position limit ${BATCH}`,
      [request, last],
    );
    const end = staged.at(-1);
    if (end === undefined) break;
    last = end.position;
    const ids = [...new Set(staged.map(({ id }) => id))];
    const { outside, undecided } = await closedIds(tx, store, collection, schema, ids);
    for (const { position, id } of staged) {
      if (!outside.has(id) && !undecided.has(id)) continue;
      retry ||= !outside.has(id);
      const problem = outside.has(id)
        ? 'the id belongs to a document that this key may not change. Use another id.'
        : 'a pending change of this id decides whether this key may change it: send it again in a moment.';
      const msg = `Document ${quote(id)} at position ${position}: ${problem}`;
      if (details.length < MAX_DETAILS) details.push({ position, id, code: 'conflict', msg });
    }
  }
  const [first] = details;
  if (first === undefined) return;
  throw new AkinError('conflict', `${first.msg} Nothing in the request was accepted.`, {
    details,
    ...(retry ? { retryAfterSeconds: RETRY_SECONDS } : {}),
  });
}

/** Ids that the key of a request may not change. */
interface ClosedIds {
  /** Their documents do not match its filter. */
  readonly outside: ReadonlySet<string>;
  /** Their pending changes may make such documents. */
  readonly undecided: ReadonlySet<string>;
}

/** None if the key has no filter. */
export async function closedIds(
  tx: Queryable,
  store: Store,
  collection: Collection,
  schema: CollectionSchema,
  ids: readonly string[],
): Promise<ClosedIds> {
  if (store.keyFilter === undefined) return { outside: new Set(), undecided: new Set() };
  // In this order: an operation that is applied in between is found among the documents.
  const undecided = await undecidedIds(tx, store, collection, ids);
  return { undecided, outside: await outsideIds(tx, store, collection, schema, ids) };
}

async function outsideIds(
  tx: Queryable,
  store: Store,
  { sqlSchema }: Collection,
  schema: CollectionSchema,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const params = new Params();
  const tables = { sqlSchema, schema, modules: store.modules, key: keyFilterFor(store, schema.fields) };
  const inside = keyConditions(tables, params);
  const rows = await tx.query<{ id: string }>(
    `select d.id from ${sqlSchema}.documents d
      where d.id = any(${params.add(textArray(ids), 'text[]')}) and d.valid_to = ${LIVE}
        and (${inside.join(' and ')}) is not true`,
    params.values,
  );
  return new Set(rows.map(({ id }) => id));
}

/** SQL: whether the document of the operation `o`, which is an add, has the fields that a key sets. */
export function hasSetFields(keyFilter: KeyFilter | undefined, params: Params): string {
  const set = [...(keyFilter?.set ?? [])].map(
    ([name, value]) => `(o.document::json ->> ${params.add(name, 'text')}) = ${params.add(value, 'text')}`,
  );
  return set.length === 0 ? 'false' : `(${set.join(' and ')})`;
}

/** A document that contains the fields that the key sets is inside, see `matchesAllWith`. Any other one may be. */
async function undecidedIds(
  tx: Queryable,
  { keyFilter }: Store,
  { sqlSchema: S }: Collection,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const params = new Params();
  const isInside = hasSetFields(keyFilter, params);
  const rows = await tx.query<{ id: string }>(
    `select distinct o.id from ${S}.operations o join ${S}.requests r using (request)
      where o.id = any(${params.add(textArray(ids), 'text[]')}) and o.state in ${OPEN_STATES} and r.first_seq is not null
        and o.kind = 'add' and ${isInside} is not true`,
    params.values,
  );
  return new Set(rows.map(({ id }) => id));
}
