import { COLLECTION } from '../lib/akin.mjs';

/**
 * Where akin keeps the documents of the collection.
 *
 * @param {{ query: (sql: string, params?: unknown[]) => Promise<any[]> }} bare its database without akin
 */
export async function akinTable(bare) {
  const sql = 'select sql_schema as schema from akin.collections where name = $1';
  const [{ schema }] = await bare.query(sql, [COLLECTION]);
  const fields = await bare.query(`select name, "column" from ${schema}.fields where "column" is not null`);
  const columns = new Map(fields.map(({ name, column }) => [name, column]));
  return { table: `${schema}.documents`, columns, columnOf: (name) => columns.get(name) };
}
