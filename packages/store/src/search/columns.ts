import { type AkinError, type FieldType, type ModuleManifest, nearestName, type Query, quote } from '@akin/domain';
import { descriptorTable } from '../database/collections/collection-tables.ts';
import type { CollectionSchema, Column } from '../database/context.ts';
import type { FieldUses } from './field-uses.ts';
import type { Params } from './params.ts';
import { clauseError } from './query-values.ts';

export interface SearchedTables {
  readonly sqlSchema: string;
  readonly schema: CollectionSchema;
  readonly modules: readonly ModuleManifest[];
  /** Gets the uses of columns by the query, if they are to be recorded. */
  readonly uses?: FieldUses;
  /** The words of the collection that clauses of the query expand to: see `expand-words.ts`. */
  readonly expansions?: ReadonlyMap<Query, readonly string[]>;
  /** The conditions of queries, as far as a request has compiled them. */
  readonly conditions?: Map<Query, { readonly where: string; readonly params: Params }>;
}

/** A column of `documents`, which every statement of a search calls `d`. */
export interface FoundColumn {
  readonly name: string;
  readonly type: FieldType;
  readonly column: Column;
}

/**
 * @param unlike what to say if no field has a similar name
 * @throws AkinError bad-request that names the field and the most similar existing one
 */
export function findColumn(
  { schema }: SearchedTables,
  name: string,
  fail: (problem: string) => AkinError,
  unlike = '',
): FoundColumn {
  const field = schema.fields.get(name);
  const column = schema.columns.get(name);
  if (field !== undefined && column !== undefined) return { name, type: field.type, column };
  const nearest = nearestName(name, schema.fields.keys());
  throw fail(
    `no document has a field ${quote(name)}${nearest === undefined ? unlike : ` (did you mean ${quote(nearest)}?)`}`,
  );
}

export function clauseColumn(
  tables: SearchedTables,
  { field, fieldPosition, position }: { field: string; fieldPosition?: number; position: number },
): FoundColumn {
  const fail = (problem: string) => clauseError(fieldPosition ?? position, problem);
  return findColumn(tables, field, fail, '; to search for it as a word, write its colon as \\:');
}

/** SQL that is true if the document has the outputs of a module that are not columns: then its descriptor exists. */
export function hasDescriptor({ sqlSchema }: SearchedTables, module: string): string {
  return `exists (select from ${descriptorTable(sqlSchema, module)} v where v.doc = d.doc)`;
}
