import {
  AkinError,
  applyModifiers,
  type Field,
  type FieldValue,
  maxValues,
  type NewDocument,
  type Schema,
  storageProblem,
  VERSION_FIELD,
} from '@akin/domain';
import { descriptorTable, LIVE, OPEN_STATES } from '../../database/collections/collection-tables.ts';
import { docsOf, textArray } from '../../database/engine/binary.ts';
import type { Queryable } from '../../database/engine/engine.ts';
import { readDocuments } from '../../search/hydrate.ts';
import type { CommitContext } from './commit-context.ts';
import { ALL_DOCUMENTS } from './failures.ts';
import { BEFORE_ALL, type ReadyOperation } from './ready-operations.ts';

/*
 * An atomic update becomes a whole document when it is applied in a commit: when no earlier accepted operation for the
 * same id is pending. See ADR 29.
 */

interface Analysis {
  readonly fields: ReadonlyMap<string, FieldValue>;
  /** The modules of which it has a descriptor. */
  readonly modules: readonly string[];
}

/** The state of a document between two operations on it. */
export interface DocumentState {
  readonly fields: ReadonlyMap<string, FieldValue>;
  readonly analysis: Analysis | undefined;
  /** The number of its descriptors and its thumbnail. */
  readonly picture: bigint | undefined;
}

/**
 * Divides operations into pieces to be applied one after the other. Atomic updates with an earlier pending operation on
 * the same id must wait, and are left out. Usually there is one piece. If a delete by query was accepted between
 * operations on ids with atomic updates, each of these operations is a piece.
 */
export async function independentBatches(
  context: CommitContext,
  run: readonly ReadyOperation[],
): Promise<(readonly ReadyOperation[])[]> {
  const atomic = run.filter((operation) => operation.atomic);
  if (atomic.length === 0) return [run];
  const ids = new Set(atomic.map(({ id }) => id ?? ''));
  const waiting = await waitingOf(context, run, ids);
  const rest = run.filter((operation) => !waiting.has(operation.seq));
  if (!(await hasDeleteBetween(context, rest, ids))) return rest.length === 0 ? [] : [rest];
  const others = rest.filter(({ id }) => !ids.has(id ?? ''));
  return [
    ...(others.length === 0 ? [] : [others]),
    ...rest.filter(({ id }) => ids.has(id ?? '')).map((operation) => [operation]),
  ];
}

async function waitingOf(
  context: CommitContext,
  run: readonly ReadyOperation[],
  ids: ReadonlySet<string>,
): Promise<Set<bigint>> {
  const { store, collection } = context;
  const S = collection.sqlSchema;
  const open = await store.engine.query<{ id: string; seq: bigint; atomic: boolean }>(
    `select o.id, r.first_seq + o.position as seq, o.atomic from ${S}.operations o join ${S}.requests r using (request)
      where o.id = any($1::text[]) and o.state in ${OPEN_STATES} and r.first_seq is not null order by seq`,
    [textArray([...ids])],
    'bulk',
  );
  const known = await knownSeqs(context, ids);
  const inRun = new Set(run.map(({ seq }) => seq));
  const unsure = new Set<string>();
  const waiting = new Set<bigint>();
  for (const { id, seq, atomic } of open) {
    if (seq < (known.get(id) ?? seq)) continue;
    if (!inRun.has(seq)) unsure.add(id);
    // An operation that replaces the whole document makes earlier pending ones void.
    else if (!atomic) unsure.delete(id);
    else if (unsure.has(id)) waiting.add(seq);
  }
  return waiting;
}

/** The number of the last operation on each id in the tables: older ones are void. */
async function knownSeqs({ store, collection }: CommitContext, ids: ReadonlySet<string>): Promise<Map<string, bigint>> {
  const S = collection.sqlSchema;
  const rows = await store.engine.query<{ id: string; seq: bigint }>(
    `select id, max(seq) as seq from (
       select id, seq from ${S}.documents where id = any($1::text[])
       union all select id, seq from ${S}.barriers where id = any($1::text[])
       union all select id, coalesce((select max(seq) from ${S}.barriers where query = '${ALL_DOCUMENTS}'), ${BEFORE_ALL})
         from unnest($1::text[]) t (id)) known group by id`,
    [textArray([...ids])],
    'bulk',
  );
  return new Map(rows.map(({ id, seq }) => [id, seq]));
}

/** Whether a delete by query was accepted between operations on ids with atomic updates. */
async function hasDeleteBetween(
  { store, collection }: CommitContext,
  run: readonly ReadyOperation[],
  ids: ReadonlySet<string>,
): Promise<boolean> {
  const own = run.filter(({ id }) => ids.has(id ?? ''));
  const [first, last] = [own[0], own.at(-1)];
  if (first === undefined || last === undefined || own.length === 1) return false;
  const [row] = await store.engine.query<{ some: boolean }>(
    `select exists (select from ${collection.sqlSchema}.barriers
      where query is not null and seq > $1 and seq < $2) as some`,
    [first.seq, last.seq],
    'bulk',
  );
  return row?.some ?? false;
}

/**
 * SQL: whether an earlier atomic update of an id waits.
 *
 * @param id the id of the document, as SQL
 * @param seq the number before which it was accepted, as SQL
 */
export function openAtomic(S: string, id: string, seq: string): string {
  return `exists (select from ${S}.operations held join ${S}.requests held_by using (request)
    where held.id = ${id} and held.atomic and held.state in ${OPEN_STATES} and held_by.first_seq + held.position < ${seq})`;
}

/** The documents that atomic updates change, as they are after each operation of a piece. */
export class Bases {
  readonly #known: ReadonlyMap<string, bigint>;
  readonly #now: Map<string, DocumentState | undefined>;

  readonly #schema: Schema;

  private constructor(known: ReadonlyMap<string, bigint>, now: Map<string, DocumentState | undefined>, schema: Schema) {
    this.#known = known;
    this.#now = now;
    this.#schema = schema;
  }

  /** Reads the rows of the ids that a piece updates atomically. Undefined if it updates none. */
  static async read(context: CommitContext, piece: readonly ReadyOperation[]): Promise<Bases | undefined> {
    const ids = new Set(piece.filter(({ atomic }) => atomic).map(({ id }) => id ?? ''));
    if (ids.size === 0) return undefined;
    return new Bases(await knownSeqs(context, ids), await readStates(context, ids), context.schema.fields);
  }

  /** Whether a later change, which is applied already, made an operation void. */
  isObsolete({ id, seq }: ReadyOperation): boolean {
    return seq < (this.#known.get(id ?? '') ?? seq);
  }

  /** Records the document after an operation. @param state undefined: it is deleted */
  recordState({ id }: ReadyOperation, state: DocumentState | undefined): void {
    if (this.#known.has(id ?? '')) this.#now.set(id ?? '', state);
  }

  /**
   * The document that results from an atomic update.
   *
   * @param analysis the outputs of its own picture, if it sets one
   * @throws AkinError bad-request if a number gets too large; too-large if the document does
   */
  update(operation: ReadyOperation, update: NewDocument, analysis: Analysis | undefined): DocumentState {
    const before = this.#now.get(operation.id ?? '');
    const modifiers = update.modifiers ?? new Map();
    const fields = applyModifiers(before?.fields ?? new Map(), update.fields, modifiers);
    requireStorable(operation.id ?? '', fields, this.#schema);
    if (analysis !== undefined) return { fields, analysis, picture: operation.doc ?? undefined };
    // Without its URL the document has no picture.
    const isGone = modifiers.has('image') && !fields.has('image');
    return isGone
      ? { fields, analysis: undefined, picture: undefined }
      : { analysis: undefined, picture: undefined, ...before, fields };
  }
}

function requireStorable(id: string, fields: ReadonlyMap<string, FieldValue>, schema: Schema): void {
  for (const [name, value] of fields) {
    const max = maxValues(schema.get(name));
    if (Array.isArray(value) && value.length > max) {
      throw new AkinError('too-large', `The field ${name} would have ${value.length} values, more than ${max}.`);
    }
  }
  const problem = storageProblem(id, fields);
  if (problem !== null) throw new AkinError('too-large', `The document as updated cannot be stored: ${problem}.`);
}

/** The live documents of some ids, with the values from their analysis, whichever model made them. */
async function readStates(
  context: CommitContext,
  ids: ReadonlySet<string>,
): Promise<Map<string, DocumentState | undefined>> {
  const { store, collection, schema } = context;
  const { sqlSchema: S } = collection;
  const { engine, modules } = store;
  const rows = await engine.query<{ doc: bigint; id: string }>(
    `select doc, id from ${S}.documents where id = any($1::text[]) and valid_to = ${LIVE}`,
    [textArray([...ids])],
    'bulk',
  );
  const docs = docsOf(rows);
  const columns = [...schema.fields.values()].filter(({ name }) => {
    const kind = schema.columns.get(name)?.kind;
    return name !== 'id' && name !== VERSION_FIELD && (kind === 'column' || kind === 'bytes' || kind === 'location');
  });
  const read = await readDocuments(store, { tx: engine, sqlSchema: S, schema, modules }, docs, columns, [], true);
  const modulesOf = await readModules(context, engine, docs);
  return new Map(
    rows.map(({ doc, id }) => {
      const all = read.get(doc)?.document ?? new Map<string, FieldValue>();
      const own = (wanted: boolean) =>
        new Map([...all].filter(([name]) => isAnalysis(schema.fields.get(name)) === wanted));
      const found = { fields: own(true), modules: modulesOf.get(doc) ?? [] };
      const analysis = found.fields.size + found.modules.length > 0 ? found : undefined;
      return [id, { fields: own(false), analysis, picture: doc }];
    }),
  );
}

function isAnalysis(field: Field | undefined): boolean {
  return field?.origin === 'analysis';
}

/** The modules of which each document has a descriptor. */
async function readModules(
  { store, collection }: CommitContext,
  tx: Queryable,
  docs: readonly bigint[],
): Promise<Map<bigint, string[]>> {
  const found = new Map<bigint, string[]>();
  const described = store.modules.filter(({ descriptor }) => descriptor);
  if (docs.length === 0 || described.length === 0) return found;
  const selects = described.map(
    ({ name }) =>
      `select doc, '${name}' as module from ${descriptorTable(collection.sqlSchema, name)} where doc = any($1::bigint[])`,
  );
  const rows = await tx.query<{ doc: bigint; module: string }>(selects.join(' union all '), [docs]);
  for (const { doc, module } of rows) found.set(doc, [...(found.get(doc) ?? []), module]);
  return found;
}
