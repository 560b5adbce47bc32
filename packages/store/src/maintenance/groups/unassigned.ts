import { createYielder } from '@akin/runtime';
import { descriptorTable } from '../../database/collections/collection-tables.ts';
import { loadSchema } from '../../database/collections/schema.ts';
import { decodeHalfvec } from '../../database/engine/binary.ts';
import { BULK } from '../../database/engine/engine.ts';
import { conditionOf } from '../../search/compile.ts';
import { Params } from '../../search/params.ts';
import { type Grouping, NO_CELL } from './rule.ts';

export interface UnassignedDocument {
  readonly doc: bigint;
  readonly id: string;
  readonly vector: Float32Array;
  readonly cells: readonly number[];
  readonly secondVector: Float32Array | undefined;
}

/** Reads documents by their numbers, without those that have no descriptor or are an exception of the rule. */
export async function readUnassigned(
  { store, collection, rule }: Grouping,
  docs: readonly bigint[],
): Promise<UnassignedDocument[]> {
  const { sqlSchema } = collection;
  const params = new Params();
  const numbers = params.add(docs, 'int8[]');
  const tables = { sqlSchema, schema: await loadSchema(store, collection), modules: store.modules };
  const except = rule.exclude && conditionOf(rule.exclude, { tables, params, now: new Date(), timeZone: 'UTC' });
  type Row = { doc: bigint; id: string; vector: Buffer; second_vector: Buffer | null };
  const sql = `select d.doc, d.id, halfvec_send(v.vector) as vector,
            ${rule.secondModule ? `(select halfvec_send(a.vector) from ${descriptorTable(sqlSchema, rule.secondModule.module)} a where a.doc = d.doc)` : 'null'} as second_vector
       from ${sqlSchema}.documents d
       join ${descriptorTable(sqlSchema, rule.module)} v on v.doc = d.doc
      where d.doc = any(${numbers})${except ? ` and (${except}) is not true` : ''}
      order by d.doc`;
  const rows = await store.engine.transaction((tx) => tx.query<Row>(sql, params.values), BULK);
  const unassigned: UnassignedDocument[] = [];
  const yieldIfDue = createYielder();
  for (const { doc, id, vector, second_vector } of rows) {
    await yieldIfDue();
    const decoded = decodeHalfvec(vector);
    unassigned.push({
      doc,
      id,
      vector: decoded,
      cells: rule.cellsOf?.(decoded) ?? [NO_CELL],
      secondVector: second_vector ? decodeHalfvec(second_vector) : undefined,
    });
  }
  return unassigned;
}
