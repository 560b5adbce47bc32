import { AkinError } from '@akin/domain';
import { LIVE, OPEN_STATES, VERSION } from '../../database/collections/collection-tables.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import type { Collection } from '../../database/context.ts';
import { docsOf, textArray } from '../../database/engine/binary.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { Params } from '../../search/params.ts';
import type { CollectionContext, Store } from '../context.ts';
import { compileDelete, refusedDelete } from './compile-delete.ts';
import { coveredIds } from './covered-ids.ts';
import { closedIds } from './inside.ts';
import { type Acceptance, RETRY_SECONDS, refuseStaged } from './refuse-staged.ts';

/*
 * The version of a document is the sequence number of the change that made it. Accepted changes count, visible or not:
 * a pending change represents the document that it will make.
 */

/**
 * Compares the versions that staged operations expect with those of their documents, including earlier changes in the
 * same request.
 *
 * @throws AkinError conflict with a detail for each document; with a time to try again if a pending delete by query
 * decides
 */
export async function requireVersions(acceptance: Acceptance): Promise<void> {
  const { tx, nextSeq } = acceptance;
  await refuseStaged(acceptance, 'expected_version is not null', async (ids) => {
    const known = await readKnown(tx, acceptance, ids, acceptance);
    return ({ position, id, expected }) => {
      const found = known.before(id, nextSeq + BigInt(position));
      const text = conflictOf(expected ?? 0n, found);
      return text === undefined ? undefined : { text, isTemporary: found.uncertain };
    };
  });
}

/**
 * The current accepted versions of some documents, by id. Ids without a document are left out. While a pending delete
 * by query decides whether a document exists, its version is the one without that delete.
 */
export async function currentVersions(
  store: Store,
  collection: Collection,
  ids: readonly string[],
): Promise<Map<string, bigint>> {
  return store.engine.transaction(
    async (tx) => {
      const context = { store, collection, schema: await loadSchema(store, collection, undefined, tx) };
      const known = await readKnown(tx, context, ids);
      const { outside, undecided } = await closedIds(tx, context, ids);
      return new Map(
        ids.flatMap((id): [string, bigint][] => {
          if (outside.has(id) || undecided.has(id)) return [];
          const { version } = known.before(id, undefined);
          return version === undefined ? [] : [[id, version]];
        }),
      );
    },
    { snapshot: true },
  );
}

/** The document just before a change. */
interface FoundVersion {
  readonly version: bigint | undefined;
  /** Whether a pending delete by query decides. */
  readonly uncertain: boolean;
}

function conflictOf(expected: bigint, { version, uncertain }: FoundVersion): string | undefined {
  if (uncertain) return 'a pending delete by query decides whether it exists: send it again in a moment.';
  const actual = version === undefined ? 'there is no such document' : `its version is ${version}`;
  if (expected < 0n && version !== undefined) return `version conflict: it must not exist, and ${actual}.`;
  if (expected === 1n && version === undefined) return `version conflict: it must exist, and ${actual}.`;
  if (expected > 1n && version !== expected)
    return `version conflict: version ${expected} was expected, and ${actual}.`;
  return undefined;
}

interface OpenOperation {
  readonly id: string;
  readonly kind: 'add' | 'delete';
  readonly seq: bigint;
}

interface PendingDelete {
  readonly seq: bigint;
  readonly query: string;
  readonly acceptedAt: Date;
  /** Ids of the documents in the tables that it deletes. */
  readonly deletedIds: ReadonlySet<string>;
}

interface LiveRow {
  readonly id: string;
  readonly doc: bigint;
  readonly seq: bigint;
  readonly version: bigint;
}

interface PendingVersions {
  /** The document before the change with a number. @param seq undefined: after all accepted changes */
  before(id: string, seq: bigint | undefined): FoundVersion;
}

/**
 * Reads what decides the versions of some documents.
 *
 * @param own a request that is about to be accepted, whose operations count too
 */
async function readKnown(
  tx: Queryable,
  context: CollectionContext,
  ids: readonly string[],
  own?: Pick<Acceptance, 'request' | 'nextSeq'>,
): Promise<PendingVersions> {
  const S = context.collection.sqlSchema;
  const of = [own?.request ?? null, own?.nextSeq ?? null];
  const seq = 'coalesce(r.first_seq, $2::bigint) + o.position';
  const accepted = '(r.first_seq is not null or r.request = $1::bigint)';
  // Read before the rows: an operation that is applied in between is then found among the rows.
  const open = await tx.query<OpenOperation>(
    `select o.id, o.kind, ${seq} as seq from ${S}.operations o join ${S}.requests r using (request)
      where o.id = any($3::text[]) and o.state in ${OPEN_STATES} and ${accepted} order by seq`,
    [...of, textArray(ids)],
  );
  const queries = await tx.query<{ seq: bigint; query: string; accepted_at: Date; applied: boolean }>(
    `select ${seq} as seq, o.document as query, coalesce(r.accepted_at, now()) as accepted_at, false as applied
       from ${S}.operations o join ${S}.requests r using (request)
      where o.kind = 'delete-by-query' and o.state in ${OPEN_STATES} and ${accepted}
     union all
     select seq, query, accepted_at, true from ${S}.barriers where query is not null
     order by seq`,
    of,
  );
  const rows = await tx.query<LiveRow>(
    `select d.id, d.doc, d.seq, ${VERSION} as version from ${S}.documents d
      where d.id = any($1::text[]) and d.valid_to = ${LIVE}`,
    [textArray(ids)],
  );
  const lastApplied = await tx.query<{ id: string; seq: bigint }>(
    `select id, max(seq) as seq from (
       select id, seq from ${S}.documents where id = any($1::text[])
       union all select id, seq from ${S}.barriers where id = any($1::text[])) known group by id`,
    [textArray(ids)],
  );
  const deletes: PendingDelete[] = [];
  for (const { seq, query, accepted_at, applied } of queries) {
    const pending = { seq, query, acceptedAt: accepted_at };
    const deletedIds = applied ? new Set<string>() : await idsDeletedBy(tx, context, pending, rows);
    deletes.push({ ...pending, deletedIds });
  }
  return knownOf(open, deletes, rows, new Map(lastApplied.map((row) => [row.id, row.seq])));
}

function knownOf(
  open: readonly OpenOperation[],
  deletes: readonly PendingDelete[],
  rows: readonly LiveRow[],
  lastApplied: ReadonlyMap<string, bigint>,
): PendingVersions {
  const byId = new Map<string, OpenOperation[]>();
  for (const operation of open) byId.set(operation.id, [...(byId.get(operation.id) ?? []), operation]);
  const live = new Map(rows.map((row) => [row.id, row]));
  return {
    before(id, bound) {
      const isBefore = (seq: bigint) => bound === undefined || seq < bound;
      const since = lastApplied.get(id);
      const last = byId.get(id)?.findLast(({ seq }) => isBefore(seq) && (since === undefined || seq > since));
      const row = live.get(id);
      const version = last === undefined ? row?.version : last.kind === 'add' ? last.seq : undefined;
      if (version === undefined) return { version, uncertain: false };
      let uncertain = false;
      for (const { seq, query, deletedIds } of deletes) {
        if (!isBefore(seq)) continue;
        if (last === undefined) {
          if (row !== undefined && seq > row.seq && deletedIds.has(id)) return { version: undefined, uncertain: false };
        } else if (seq > last.seq) {
          const covered = coveredIds(query);
          if (covered === 'all' || covered?.includes(id)) return { version: undefined, uncertain: false };
          uncertain ||= covered === undefined;
        }
      }
      return { version, uncertain };
    },
  };
}

async function idsDeletedBy(
  tx: Queryable,
  context: CollectionContext,
  { query, acceptedAt }: Pick<PendingDelete, 'query' | 'acceptedAt'>,
  rows: readonly LiveRow[],
): Promise<Set<string>> {
  if (rows.length === 0) return new Set();
  const params = new Params();
  try {
    const docs = params.add(docsOf(rows), 'bigint[]');
    const where = compileDelete(context, query, acceptedAt, params);
    const found = await tx.query<{ id: string }>(
      `select d.id from ${context.collection.sqlSchema}.documents d where d.doc = any(${docs}) and ${where}`,
      params.values,
    );
    return new Set(found.map(({ id }) => id));
  } catch (error) {
    if (refusedDelete(error) === undefined) throw error;
    const msg =
      'It is not known yet whether a pending delete by query removes this document: send the request again in a moment.';
    throw new AkinError('conflict', msg, { cause: error, retryAfterSeconds: RETRY_SECONDS });
  }
}
