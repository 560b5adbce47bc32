import type { FieldType } from '@akin/domain';
import type { Collection } from '../../database/context.ts';
import type { Transaction } from '../../database/engine/engine.ts';
import type { Range } from './read-rows.ts';

/** A column of documents with one value for each document. */
export interface ValueColumn {
  /** Its name in SQL. */
  readonly sql: string;
  readonly type: FieldType;
}

/**
 * A filter on a column with more values matches few documents, and the database answers it quickly. Each new filter may
 * compare all values, on the event loop.
 */
export const MAX_VALUES = 1_024;

/**
 * The values of a column, in order, with the documents that a range of commits added, in the format of
 * @akin/searcher. Documents that a later commit ended are among them as long as their rows exist.
 *
 * @param max maximum number of values that may be in memory: one more is read
 * @throws AkinError too-large if they have more bytes than `maxBytes`
 */
export function readValueLists(
  tx: Transaction,
  { sqlSchema }: Collection,
  { sql, type }: ValueColumn,
  { after, upTo }: Range,
  max: number = MAX_VALUES,
  maxBytes?: number,
): Promise<Uint8Array> {
  return tx.copy(
    `select ${valueSql(`d.${sql}`, type)}, string_agg(int8send(d.doc), '') from ${sqlSchema}.documents d
      where d.valid_from > ${after} and d.valid_from <= ${upTo} and d.${sql} is not null
      group by d.${sql} order by d.${sql} limit ${max + 1}`,
    maxBytes,
  );
}

/** A value as text: equal values have the same. Dates are seconds, and there is only one zero. */
function valueSql(column: string, type: FieldType): string {
  if (type === 'date') return `extract(epoch from ${column})::text`;
  return type === 'double' ? `(${column} + 0)::text` : `${column}::text`;
}

/** By the statistics of the database. A negative number there is a share of all rows. */
export async function hasFewValues(tx: Transaction, { sqlSchema }: Collection, column: string): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from pg_stats where schemaname = $1 and tablename = 'documents' and attname = $2
        and n_distinct > 0 and n_distinct <= ${MAX_VALUES}`,
    [sqlSchema, column],
  );
  return rows.length > 0;
}

/** About how many rows are read. */
export async function countRows(tx: Transaction, { id }: Collection): Promise<number> {
  const [row] = await tx.query<{ documents: bigint }>('select documents from akin.collections where id = $1', [id]);
  return Number(row?.documents ?? 0);
}
