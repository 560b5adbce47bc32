import { AkinError, documentFromJson } from '@akin/domain';
import { createYielder } from '@akin/runtime';
import { modelSetOf } from '../collections/model-set.ts';
import { refuseOtherModels } from '../collections/models.ts';
import type { ModelSet, ParsedOutputs } from '../context.ts';
import { Bases } from './atomic.ts';
import { type Failure, failOperations } from './close-operations.ts';
import type { CommitContext } from './commit-context.ts';
import { type DocumentColumns, documentColumns } from './document-rows.ts';
import type { ReadyOperation } from './ready-operations.ts';
import { storeWords } from './vocabulary.ts';

/** An operation with its rows for the tables. A delete has none. */
export interface Prepared {
  readonly operation: ReadyOperation;
  readonly id: string;
  readonly columns?: DocumentColumns;
  /** By module. The other outputs are in the columns. */
  readonly descriptors?: ParsedOutputs['descriptors'];
  /** Whether a later change, which is applied already, made it void. */
  readonly isObsolete?: boolean;
  /** The number (`doc`) of the row whose outputs and thumbnail it keeps. */
  readonly pictureOf?: bigint;
}

/** Operations to be applied together. */
export interface Chunk {
  readonly prepared: readonly Prepared[];
  /** Number of operations that failed because they cannot be read. */
  readonly failed: number;
}

/**
 * Makes rows from adds and deletes by id. Its reads may happen before {@link applyChunk} has applied the previous
 * chunk, unless there are atomic updates: then nothing may be applied at the same time.
 */
export async function prepareChunk(context: CommitContext, operations: readonly ReadyOperation[]): Promise<Chunk> {
  const prepared: Prepared[] = [];
  const vocabulary = new Set<string>();
  const failures: Failure[] = [];
  const bases = await Bases.read(context, operations);
  const { parseOutputs } = modelSetOf(context.store, context.schema);
  const modules = new Set<string>();
  const yieldIfDue = createYielder();
  for (const operation of operations) {
    await yieldIfDue();
    try {
      prepared.push(prepare(context, operation, { vocabulary, bases, parseOutputs, modules }));
    } catch (error) {
      // Nothing else was read here: this document is the cause.
      failures.push({
        operation,
        code: error instanceof AkinError ? error.code : 'internal',
        msg: error instanceof AkinError ? error.message : 'The document could not be read back.',
      });
    }
  }
  if (failures.length > 0) await failOperations(context, failures);
  await storeWords(context.store, context.collection, vocabulary);
  return { prepared, failed: failures.length };
}

/** What the operations of a chunk have in common. */
interface ChunkState {
  /** Gets the words of the documents. */
  readonly vocabulary: Set<string>;
  readonly bases: Bases | undefined;
  readonly parseOutputs: ModelSet['parseOutputs'];
  /** The modules whose models are known to be those of the collection. */
  readonly modules: Set<string>;
}

function prepare(
  { store, collection, schema }: CommitContext,
  operation: ReadyOperation,
  { vocabulary, bases, parseOutputs, modules }: ChunkState,
): Prepared {
  const id = operation.id ?? '';
  if (bases?.isObsolete(operation)) return { operation, id, isObsolete: true };
  if (operation.kind === 'delete') {
    bases?.recordState(operation, undefined);
    return { operation, id };
  }
  const document = documentFromJson(operation.document ?? '{}', schema.fields);
  const outputs = operation.outputs === null ? undefined : parseOutputs(operation.outputs, operation.mark ?? undefined);
  for (const module of outputs?.descriptors.keys() ?? []) {
    if (modules.has(module)) continue;
    refuseOtherModels(store, collection, schema, [module]);
    modules.add(module);
  }
  const whole =
    operation.atomic && bases !== undefined
      ? bases.update(operation, document, outputs)
      : { fields: document.fields, outputs, picture: operation.doc ?? undefined };
  bases?.recordState(operation, whole);
  const isOther = whole.picture !== undefined && whole.picture !== operation.doc;
  return {
    operation,
    id,
    columns: documentColumns(id, whole.fields, whole.outputs, schema, vocabulary),
    ...(whole.outputs ? { descriptors: whole.outputs.descriptors } : {}),
    ...(isOther && whole.picture !== undefined ? { pictureOf: whole.picture } : {}),
  };
}
