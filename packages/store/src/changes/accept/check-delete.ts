import { AkinError, type FieldType, quote } from '@akin/domain';
import { sqlType } from '../../database/collections/sql-types.ts';
import type { Column } from '../../database/context.ts';
import { causeOf } from '../../database/engine/sqlstate.ts';
import { keyFilterFor, limitDelete } from '../../search/keys/key-filter.ts';
import { Params } from '../../search/params.ts';
import { keyConditions } from '../../search/visible.ts';
import type { CollectionContext } from '../context.ts';
import { compileDelete } from './compile-delete.ts';

/** Fields by name that documents of the same request define. */
type NewFields = ReadonlyMap<string, FieldType>;

/**
 * Checks the query of a delete, so that a wrong one is refused with its position.
 *
 * @param newFields the new fields that documents before it in the same request define
 * @throws AkinError bad-request if the query cannot be parsed, names an unknown field, or compares a field with a value
 * that does not fit
 */
export function checkDelete(context: CollectionContext, query: string, newFields: NewFields): void {
  compileDelete(withFields(context, newFields), query, new Date(), new Params());
}

/**
 * Does the same, and has the database plan the delete as a commit will run it: a delete that the database refuses is
 * not accepted.
 *
 * @returns the query that a commit will run: with the filter of the key of the request
 * @throws AkinError bad-request as {@link checkDelete}, and if the database refuses to run the query; forbidden if the
 * filter does not fit the fields. No error tells the filter.
 */
export async function planDelete(known: CollectionContext, query: string, newFields: NewFields): Promise<string> {
  const context = withFields(known, newFields);
  const { store, collection, schema } = context;
  const own = new Params();
  const ownWhere = compileDelete(context, query, new Date(), own);
  const limited = limitDelete(store, schema.fields, query);
  const { where, params } = limited === query ? { where: ownWhere, params: own } : compileLimited(context, limited);
  const added = [...schema.columns.values()].flatMap((column) =>
    column.kind === 'column' && column.sql.startsWith(NEW) ? [`, null::${sqlType(column.type)} as ${column.sql}`] : [],
  );
  try {
    await store.engine.query(
      `explain select d.doc from (select x.*${added.join('')} from ${collection.sqlSchema}.documents x) d where ${where}`,
      params.values,
      'bulk',
    );
  } catch (error) {
    if (causeOf(error) === 'server') throw error;
    const msg = `The database cannot run the query ${quote(query)} of a delete. Change it, for example to fewer clauses.`;
    throw new AkinError('bad-request', msg, { cause: error });
  }
  return limited;
}

/** The SQL of a query of which the part of the client is known to be right. */
function compileLimited(context: CollectionContext, limited: string) {
  const { store, collection, schema } = context;
  const tables = { sqlSchema: collection.sqlSchema, schema, modules: store.modules };
  keyConditions({ ...tables, key: keyFilterFor(store, schema.fields) }, new Params());
  const params = new Params();
  try {
    return { where: compileDelete(context, limited, new Date(), params), params };
  } catch (error) {
    const msg =
      'The query of a delete is too large next to the filter of this key: change it, for example to fewer clauses.';
    throw new AkinError('bad-request', msg, { cause: error });
  }
}

/** Prefix of the names of columns that do not exist yet. It contains a blank, which no other name has. */
const NEW = '"new ';

function withFields(context: CollectionContext, newFields: NewFields): CollectionContext {
  if (newFields.size === 0) return context;
  const { schema } = context;
  const fields = new Map(schema.fields);
  const columns = new Map(schema.columns);
  for (const [name, type] of newFields) {
    if (fields.has(name)) continue;
    fields.set(name, { name, type, origin: 'document', returnedByDefault: true });
    columns.set(name, { kind: 'column', sql: `${NEW}${columns.size}"`, type } satisfies Column);
  }
  return { ...context, schema: { ...schema, fields, columns } };
}
