import { AkinError, documentFromJson, type ErrorCode } from '@akin/domain';
import type { AdaptiveBatchSize } from '../bulk/adaptive-batch-size.ts';
import { descriptorTable, LIVE } from '../collections/collection-tables.ts';
import { refuseIndex } from '../collections/field-indexes.ts';
import { generationOf } from '../collections/generations.ts';
import { refuseOtherModels } from '../collections/models.ts';
import type { CollectionSchema, ParsedOutputs } from '../context.ts';
import { binaryArray, encodeHalfvec, textArray } from '../engine/binary.ts';
import type { Queryable } from '../engine/engine.ts';
import { blameOf, reasonOf } from '../engine/sqlstate.ts';
import { Bases, copyPictures } from './atomic.ts';
import { applyBarriers, failRefusedBarrier } from './barriers.ts';
import type { CommitContext } from './commit-context.ts';
import { countDescriptors } from './descriptor-counts.ts';
import { type DocumentColumns, documentColumns } from './document-rows.ts';
import { countFailures, supersedeFailed, tally } from './failures.ts';
import { requireLease } from './leases.ts';
import type { ReadyOperation } from './ready-operations.ts';
import { removeDocuments } from './remove-documents.ts';
import { leaveTombstones, leaveTombstonesOfVoid, removeTombstones } from './tombstones.ts';
import { keepWords } from './vocabulary.ts';

/** An operation with what it puts into the tables; a delete puts in nothing. */
interface Prepared {
  readonly operation: ReadyOperation;
  readonly id: string;
  readonly columns?: DocumentColumns;
  readonly outputs?: ParsedOutputs;
  /** Something later made it void, as was found before. */
  readonly isVoid?: boolean;
  /** The number whose outputs and thumbnail it takes over. */
  readonly pictureOf?: bigint;
}

export interface Failure {
  readonly operation: ReadyOperation;
  readonly code: ErrorCode;
  readonly msg: string;
}

/** The event loop is held no longer: requests of others are between. */
const SLICE_MILLISECONDS = 3;

/** Operations that are to be applied together. */
export interface Chunk {
  readonly prepared: readonly Prepared[];
  /** How many failed, because they cannot be read. */
  readonly failed: number;
}

/**
 * Makes rows of adds and deletes by id. What was read for it may lie before what {@link applyChunk} applies meanwhile,
 * but where it holds atomic updates: nothing may be applied then.
 */
export async function prepareChunk(context: CommitContext, operations: readonly ReadyOperation[]): Promise<Chunk> {
  const prepared: Prepared[] = [];
  const vocabulary = new Set<string>();
  const failures: Failure[] = [];
  const bases = await Bases.read(context, operations);
  let since = performance.now();
  for (const operation of operations) {
    if (performance.now() - since > SLICE_MILLISECONDS) {
      await new Promise((resolve) => setImmediate(resolve));
      since = performance.now();
    }
    try {
      prepared.push(prepare(context, operation, vocabulary, bases));
    } catch (error) {
      // Nothing but this document was looked at, so nothing but this document is to blame.
      failures.push({
        operation,
        code: error instanceof AkinError ? error.code : 'internal',
        msg: error instanceof AkinError ? error.message : 'The document could not be read back.',
      });
    }
  }
  if (failures.length > 0) await failOperations(context, failures);
  await keepWords(context.store, context.collection, vocabulary);
  return { prepared, failed: failures.length };
}

/**
 * Applies a chunk, unpublished, in one transaction. Among operations on one id the latest counts, whatever order they
 * come in; the others are superseded. One that the engine refuses is found by halving, and fails alone.
 *
 * @returns how many failed, those that failed before included
 */
export async function applyChunk(
  context: CommitContext,
  { prepared, failed }: Chunk,
  batchSize: AdaptiveBatchSize,
): Promise<number> {
  return failed + (await applyPrepared(context, prepared, batchSize));
}

function prepare(
  { store, collection, schema }: CommitContext,
  operation: ReadyOperation,
  vocabulary: Set<string>,
  bases: Bases | undefined,
): Prepared {
  const id = operation.id ?? '';
  if (bases?.isVoid(operation)) return { operation, id, isVoid: true };
  if (operation.kind === 'delete') {
    bases?.follow(operation, undefined);
    return { operation, id };
  }
  const document = documentFromJson(operation.document ?? '{}', schema.fields);
  const outputs =
    operation.outputs === null
      ? undefined
      : generationOf(store, schema).parseOutputs(operation.outputs, operation.mark ?? undefined);
  if (outputs) refuseOtherModels(store, collection, schema, [...outputs.descriptors.keys()]);
  const whole =
    operation.atomic && bases !== undefined
      ? bases.update(operation, document, outputs)
      : { fields: document.fields, outputs, picture: operation.doc ?? undefined };
  bases?.follow(operation, whole);
  const isOther = whole.picture !== undefined && whole.picture !== operation.doc;
  return {
    operation,
    id,
    columns: documentColumns(id, whole.fields, whole.outputs, schema, vocabulary),
    ...(whole.outputs ? { outputs: whole.outputs } : {}),
    ...(isOther && whole.picture !== undefined ? { pictureOf: whole.picture } : {}),
  };
}

async function applyPrepared(
  context: CommitContext,
  prepared: readonly Prepared[],
  batchSize: AdaptiveBatchSize,
): Promise<number> {
  if (prepared.length === 0) return 0;
  try {
    await context.store.engine.transaction(
      (tx) => batchSize.measure(prepared.length, () => applyInTransaction(tx, context, prepared)),
      { lane: 'bulk', keyed: true },
    );
    return 0;
  } catch (error) {
    if (await failRefusedBarrier(context, error)) return 1 + (await applyPrepared(context, prepared, batchSize));
    // All else is no fault of a document.
    if (blameOf(error) !== 'values') throw error;
    if (await refuseIndex(context.store, context.collection, error)) {
      return applyPrepared(context, prepared, batchSize);
    }
    const [first] = prepared;
    if (prepared.length === 1 && first !== undefined) {
      const msg = `The database refuses the document: ${reasonOf(error)}`;
      await failOperations(context, [{ operation: first.operation, code: 'bad-request', msg }]);
      return 1;
    }
    if (prepared.some(({ operation }) => operation.atomic)) {
      // What was made of a document that is refused has to be made again without it.
      let failed = 0;
      for (const { operation } of prepared) {
        failed += await applyChunk(context, await prepareChunk(context, [operation]), batchSize);
      }
      return failed;
    }
    const half = prepared.length >> 1;
    return (
      (await applyPrepared(context, prepared.slice(0, half), batchSize)) +
      (await applyPrepared(context, prepared.slice(half), batchSize))
    );
  }
}

async function applyInTransaction(tx: Queryable, context: CommitContext, prepared: readonly Prepared[]): Promise<void> {
  const { collection } = context;
  const S = collection.sqlSchema;
  await requireLease(tx, collection, context.lease);
  const { winners, superseded } = await settle(tx, S, prepared);
  const ids = winners.map(({ id }) => id);
  const added = winners.filter((winner) => winner.columns !== undefined);

  const deletes = winners.filter((winner) => winner.columns === undefined);
  await buryDeleted(tx, context, deletes, superseded);
  await removeTombstones(
    tx,
    context,
    added.map(({ id }) => id),
  );
  await copyPictures(
    tx,
    S,
    added.flatMap(({ operation: { doc }, pictureOf }) =>
      doc === null || pictureOf === undefined ? [] : [{ from: pictureOf, to: doc }],
    ),
  );
  const expired = await expireLive(tx, context, ids);
  await insertDocuments(tx, context, added);
  await insertDescriptors(tx, context, added);
  const docs = added.flatMap(({ operation }) => (operation.doc === null ? [] : [operation.doc]));
  await countDescriptors(tx, context, docs, 1);
  if (deletes.length > 0) {
    await tx.query(
      `insert into ${S}.barriers (seq, id, accepted_at) select * from unnest($1::bigint[], $2::text[], $3::timestamptz[])`,
      [
        deletes.map(({ operation }) => operation.seq),
        deletes.map(({ id }) => id),
        deletes.map(({ operation }) => operation.acceptedAt),
      ],
    );
  }
  // Before the barriers, which look for what is still to change a document.
  await closeOperations(tx, context, winners, 'applied');
  await closeOperations(tx, context, superseded, 'superseded');
  const hidden = await applyBarriers(
    tx,
    context,
    added.map(({ operation }) => operation),
  );
  await forgetPayloads(tx, S, superseded);
  // An atomic update makes nothing void: it only could not change what failed.
  const whole = winners.filter(({ operation }) => !operation.atomic);
  await supersedeFailed(
    tx,
    S,
    whole.map(({ id, operation: { seq } }) => ({ id, seq })),
  );
  await tx.query(
    `update akin.collections set unpublished_documents = unpublished_documents + $2,
            unpublished_operations = unpublished_operations + $3 where id = $1`,
    [collection.id, added.length - hidden - expired, prepared.length],
  );
}

/** Parts the latest operation on each id from those that a later one, here or applied before, has made void. */
async function settle(
  tx: Queryable,
  S: string,
  prepared: readonly Prepared[],
): Promise<{ winners: Prepared[]; superseded: Prepared[] }> {
  const latest = new Map<string, Prepared>();
  for (const one of prepared) {
    if (one.isVoid) continue;
    const other = latest.get(one.id);
    if (other === undefined || other.operation.seq < one.operation.seq) latest.set(one.id, one);
  }
  const rows = await tx.query<{ id: string; seq: bigint }>(
    `select id, max(seq) as seq from (
       select id, seq from ${S}.documents where id = any($1::text[])
       union all
       select id, seq from ${S}.barriers where id = any($1::text[])
     ) known group by id`,
    [textArray([...latest.keys()])],
  );
  for (const { id, seq } of rows) {
    const one = latest.get(id);
    if (one !== undefined && one.operation.seq < seq) latest.delete(id);
  }
  const winners = [...latest.values()];
  const won = new Set(winners);
  return { winners, superseded: prepared.filter((one) => !won.has(one)) };
}

/** Leaves tombstones of what deletes take, documents that they made void in this chunk included. */
async function buryDeleted(
  tx: Queryable,
  context: CommitContext,
  deletes: readonly Prepared[],
  superseded: readonly Prepared[],
): Promise<void> {
  const onPurpose = new Map(deletes.filter(({ operation }) => operation.tombstones).map((one) => [one.id, one]));
  if (onPurpose.size === 0) return;
  await leaveTombstones(tx, context, `d.id = any($1::text[]) and d.valid_to = ${LIVE}`, [
    textArray([...onPurpose.keys()]),
  ]);
  const latest = new Map<string, { id: string; seq: bigint; columns: DocumentColumns }>();
  for (const { id, columns, operation } of superseded) {
    const { seq } = operation;
    if (columns === undefined || !onPurpose.has(id) || seq < (latest.get(id)?.seq ?? seq)) continue;
    latest.set(id, { id, seq, columns });
  }
  await leaveTombstonesOfVoid(tx, context, [...latest.values()]);
}

/**
 * Ends the live rows of some ids: those that are published at the commit, those that are not at once.
 * @returns how many ended
 */
async function expireLive(tx: Queryable, context: CommitContext, ids: readonly string[]): Promise<number> {
  const { store, collection, target } = context;
  const S = collection.sqlSchema;
  const live = await tx.query<{ doc: bigint; valid_from: bigint }>(
    `select doc, valid_from from ${S}.documents where id = any($1::text[]) and valid_to = ${LIVE}`,
    [textArray(ids)],
  );
  const ended = live.map(({ doc }) => doc);
  await countDescriptors(tx, context, ended, -1);
  const published = live.filter(({ valid_from }) => valid_from < target).map(({ doc }) => doc);
  const unpublished = live.filter(({ valid_from }) => valid_from === target).map(({ doc }) => doc);
  if (published.length > 0) {
    await tx.query(`update ${S}.documents set valid_to = $2 where doc = any($1::bigint[])`, [published, target]);
  }
  await removeDocuments(tx, store, collection, unpublished);
  return live.length;
}

/** Each column is one parameter, whatever the number of rows. Columns that no row has are left out. */
async function insertDocuments(
  tx: Queryable,
  { collection, schema, target }: CommitContext,
  added: readonly Prepared[],
): Promise<void> {
  if (added.length === 0) return;
  const names = [...new Set(added.flatMap(({ columns }) => [...(columns?.keys() ?? [])]))];
  const types = columnTypes(schema);
  const inputs = names.map((_, i) => `v${i}`);
  const values = names.map((name, i) => `v${i}::${types.get(name)}`);
  await tx.query(
    `insert into ${collection.sqlSchema}.documents (doc, id, seq, version, valid_from${names.map((name) => `, ${name}`).join('')})
     select doc, id, seq, version, $1${values.map((value) => `, ${value}`).join('')}
       from unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[]${names.map((_, i) => `, $${i + 6}::text[]`).join('')})
            as t (doc, id, seq, version${inputs.map((input) => `, ${input}`).join('')})`,
    [
      target,
      added.map(({ operation }) => operation.doc ?? 0n),
      textArray(added.map(({ id }) => id)),
      added.map(({ operation }) => operation.seq),
      added.map(({ operation }) => operation.keptVersion),
      ...names.map((name) => textArray(added.map(({ columns }) => columns?.get(name) ?? null))),
    ],
  );
}

/** The SQL type of each column of `documents` that a document may fill, by the name of the column. */
function columnTypes(schema: CollectionSchema): Map<string, string> {
  const types = new Map([['repeats', 'boolean']]);
  for (const column of schema.columns.values()) {
    if (column.kind === 'column') types.set(column.sql, INPUT_TYPES[column.type] ?? 'text');
    else if (column.kind === 'words') types.set(column.sql, 'tsvector');
    else if (column.kind === 'location') types.set(column.lat, 'float8').set(column.lon, 'float8');
  }
  return types;
}

const INPUT_TYPES: Readonly<Record<string, string>> = {
  boolean: 'boolean',
  long: 'bigint',
  double: 'float8',
  date: 'timestamptz',
  strings: 'text[]',
  longs: 'bigint[]',
  doubles: 'float8[]',
};

async function insertDescriptors(
  tx: Queryable,
  { store, collection }: CommitContext,
  added: readonly Prepared[],
): Promise<void> {
  for (const { name } of store.modules) {
    const rows = added.flatMap(({ operation, outputs }) => {
      const descriptor = outputs?.descriptors.get(name);
      return descriptor === undefined ? [] : [{ doc: operation.doc ?? 0n, ...descriptor }];
    });
    if (rows.length === 0) continue;
    await tx.query(
      `insert into ${descriptorTable(collection.sqlSchema, name)} (doc, cell, vector)
       select * from unnest($1::bigint[], $2::int[], $3::halfvec[])`,
      [
        rows.map(({ doc }) => doc),
        rows.map(({ cell }) => cell),
        binaryArray(
          store.halfvecOid,
          rows.map(({ vector }) => encodeHalfvec(vector)),
        ),
      ],
    );
  }
}

async function forgetPayloads(tx: Queryable, S: string, superseded: readonly Prepared[]): Promise<void> {
  const docs = superseded.flatMap(({ operation }) => (operation.doc === null ? [] : [operation.doc]));
  if (docs.length === 0) return;
  await tx.query(`delete from ${S}.outputs where doc = any($1::bigint[])`, [docs]);
  await tx.query(`delete from ${S}.thumbnails where doc = any($1::bigint[])`, [docs]);
}

/** From here on the tables have what the operation brought, so it need not keep it. */
export async function closeOperations(
  tx: Queryable,
  { collection, target }: CommitContext,
  closed: readonly { readonly operation: ReadyOperation }[],
  state: 'applied' | 'superseded',
): Promise<void> {
  if (closed.length === 0) return;
  await tx.query(
    `update ${collection.sqlSchema}.operations o set state = $3, applied_commit = $4, document = null
       from unnest($1::bigint[], $2::int[]) as t (request, position)
      where o.request = t.request and o.position = t.position`,
    [
      closed.map(({ operation }) => operation.request),
      closed.map(({ operation }) => operation.position),
      state,
      target,
    ],
  );
}

/** A failed operation keeps what it carries, for whoever looks into it. */
export async function failOperations(
  { store, collection, lease }: CommitContext,
  failures: readonly Failure[],
): Promise<void> {
  await store.engine.transaction(
    async (tx) => {
      await requireLease(tx, collection, lease);
      await tx.query(
        `update ${collection.sqlSchema}.operations o set state = 'failed', error_code = t.code, error_msg = t.msg
           from unnest($1::bigint[], $2::int[], $3::text[], $4::text[]) as t (request, position, code, msg)
          where o.request = t.request and o.position = t.position`,
        [
          failures.map(({ operation }) => operation.request),
          failures.map(({ operation }) => operation.position),
          failures.map(({ code }) => code),
          failures.map(({ msg }) => msg),
        ],
      );
      const codes = failures.map(({ code }) => code);
      await countFailures(tx, collection.sqlSchema, tally(codes, 1));
    },
    { lane: 'bulk', keyed: true },
  );
}
