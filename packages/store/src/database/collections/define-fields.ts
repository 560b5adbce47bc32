import { AkinError, type FieldType, fieldNameProblem, quote, typeName } from '@akin/domain';
import type { Collection, Database } from '../context.ts';
import { addFields } from './fields.ts';
import { loadSchema } from './schema.ts';
import { goneError, requireNoSwap, SWAP, type Swap } from './swap.ts';

/** Members of documents that are no fields, and what searches add. */
const NOT_FIELDS: ReadonlySet<string> = new Set(['score', 'import', 'pxl_import', 'thumbnail', '_version_']);

const LOCK_MILLISECONDS = 5_000;

/**
 * Gives fields their types before any document has them. Fields that have their type already are skipped, as are the
 * names that akin owns, which no document can define.
 *
 * @throws AkinError conflict, which names the field, if one has another type; bad-request for an invalid name, or for
 * too many fields; unavailable while a reindex replaces the collection. Nothing is defined then.
 */
export async function defineFields(
  store: Database,
  collection: Collection,
  fields: ReadonlyMap<string, FieldType>,
): Promise<void> {
  for (const name of fields.keys()) {
    const problem = NOT_FIELDS.has(name) ? 'akin gives this name another meaning' : fieldNameProblem(name);
    if (problem !== null) throw new AkinError('bad-request', `The field ${quote(name)} cannot be defined: ${problem}.`);
  }
  await store.engine.disk?.requireSpace('changes');
  await store.engine.transaction(
    async (tx) => {
      const [row] = await tx.query<Swap & { schema_version: number }>(
        `select schema_version, ${SWAP} from akin.collections where id = $1 for update`,
        [collection.id],
      );
      if (row === undefined) throw goneError(collection);
      requireNoSwap(row);
      const schema = await loadSchema(store, collection, row.schema_version, tx);
      const added = new Map<string, FieldType>();
      for (const [name, type] of fields) {
        const known = schema.fields.get(name);
        if (known === undefined) added.set(name, type);
        else if (known.type !== type) {
          throw new AkinError(
            'conflict',
            `The field ${quote(name)} already has the type ${typeName(known.type)}, which cannot change.`,
          );
        }
      }
      await addFields(tx, collection, added);
    },
    { lockTimeoutMilliseconds: LOCK_MILLISECONDS },
  );
}
