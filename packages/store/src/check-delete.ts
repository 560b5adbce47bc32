import type { FieldType } from '@akin/domain';
import type { Collection } from './collections.ts';
import { compileDelete } from './compile-delete.ts';
import type { CollectionSchema, Column } from './schema.ts';
import { Params } from './search/params.ts';
import type { Store } from './store.ts';

/**
 * Looks at the query of a delete before it is accepted, so that no commit finds it wrong.
 *
 * @param newFields that documents before it in the same request define
 * @throws AkinError bad-request when the query cannot be read, names a field that no document has, or compares it with
 * a value that does not fit
 */
export function checkDelete(
  store: Store,
  collection: Collection,
  schema: CollectionSchema,
  query: string,
  newFields: ReadonlyMap<string, FieldType> = new Map(),
): void {
  const fields = new Map(schema.fields);
  const columns = new Map(schema.columns);
  for (const [name, type] of newFields) {
    if (fields.has(name)) continue;
    fields.set(name, { name, type, origin: 'document', returnedByDefault: true });
    // The SQL is thrown away: any column does.
    columns.set(name, { kind: 'column', sql: 'id', type } satisfies Column);
  }
  compileDelete({ store, collection, schema: { ...schema, fields, columns } }, query, new Date(), new Params());
}
