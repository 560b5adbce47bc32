import { COLLECTION } from '../lib/akin.mjs';

/**
 * Finds the table in which akin stores the documents of the collection, and the columns of its fields.
 *
 * @param {{ query: (sql: string, params?: unknown[]) => Promise<any[]> }} bare a connection to akin's database
 */
export async function akinTable(bare) {
  const sql = 'select sql_schema as schema from akin.collections where name = $1';
  const [{ schema }] = await bare.query(sql, [COLLECTION]);
  const fields = await bare.query(`select name, "column" from ${schema}.fields where "column" is not null`);
  const columns = new Map(fields.map(({ name, column }) => [name, column]));
  return { table: `${schema}.documents`, columns, columnOf: (name) => columns.get(name) };
}
