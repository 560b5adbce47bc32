import { AkinError, documentFromJson } from '@akin/domain';
import { createYielder } from '@akin/runtime';
import { requireSameModels } from '../../database/collections/models.ts';
import { readAnalysis } from '../../database/outputs/pending-analysis.ts';
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
  /** The modules of which it has a descriptor. */
  readonly modules?: readonly string[];
  /** Whether a later change, which is applied already, made it void. */
  readonly isObsolete?: boolean;
  /** The number (`doc`) of the row whose descriptors and thumbnail it keeps. */
  readonly pictureOf?: bigint;
}

/**
 * Makes rows from adds and deletes by id. Those that cannot be read fail. Its reads may happen before
 * {@link applyChunk} has applied the previous chunk, unless there are atomic updates: then nothing may be applied at the
 * same time.
 */
export async function prepareChunk(context: CommitContext, operations: readonly ReadyOperation[]): Promise<Prepared[]> {
  const prepared: Prepared[] = [];
  const vocabulary = new Set<string>();
  const failures: Failure[] = [];
  const bases = await Bases.read(context, operations);
  const yieldIfDue = createYielder();
  for (const operation of operations) {
    await yieldIfDue();
    try {
      prepared.push(prepare(context, operation, vocabulary, bases));
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
  return prepared;
}

/** @param vocabulary gets the words of the document */
function prepare(
  { store, schema }: CommitContext,
  operation: ReadyOperation,
  vocabulary: Set<string>,
  bases: Bases | undefined,
): Prepared {
  const id = operation.id ?? '';
  if (bases?.isObsolete(operation)) return { operation, id, isObsolete: true };
  if (operation.kind === 'delete') {
    bases?.recordState(operation, undefined);
    return { operation, id };
  }
  const document = documentFromJson(operation.document ?? '{}', schema.fields);
  const pending = operation.analysis === null ? undefined : readAnalysis(operation.analysis, store.modules);
  if (pending !== undefined) requireSameModels(schema, pending.models);
  const analysis = pending && { fields: pending.fields, modules: [...pending.models.keys()] };
  const whole =
    operation.atomic && bases !== undefined
      ? bases.update(operation, document, analysis)
      : { fields: document.fields, analysis, picture: operation.doc ?? undefined };
  bases?.recordState(operation, whole);
  const isOther = whole.picture !== undefined && whole.picture !== operation.doc;
  return {
    operation,
    id,
    columns: documentColumns(id, whole.fields, whole.analysis?.fields, schema, vocabulary),
    ...(whole.analysis ? { modules: whole.analysis.modules } : {}),
    ...(isOther && whole.picture !== undefined ? { pictureOf: whole.picture } : {}),
  };
}
