import { type AkinError, type FieldType, type ModuleManifest, type Query, quote } from '@akin/domain';
import { descriptorTable } from '../collection-tables.ts';
import type { CollectionSchema, Column } from '../schema.ts';
import type { FieldUses } from './field-uses.ts';
import { clauseError } from './query-values.ts';

/** What a query is compiled against. */
export interface SearchedTables {
  /** The SQL schema of the collection. */
  readonly sqlSchema: string;
  readonly schema: CollectionSchema;
  readonly modules: readonly ModuleManifest[];
  /** What the query does with columns is written here, if anybody wants to know. */
  readonly uses?: FieldUses;
  /** The words of the collection that clauses of the query stand for: see `expand-words.ts`. */
  readonly expansions?: ReadonlyMap<Query, readonly string[]>;
}

/** A column of `documents`, which every statement of a search calls `d`. */
export interface FoundColumn {
  readonly name: string;
  readonly type: FieldType;
  readonly column: Column;
}

/** @throws AkinError bad-request that names the field and the nearest one that exists */
export function findColumn(
  { schema }: SearchedTables,
  name: string,
  fail: (problem: string) => AkinError,
): FoundColumn {
  const field = schema.fields.get(name);
  const column = schema.columns.get(name);
  if (field !== undefined && column !== undefined) return { name, type: field.type, column };
  const nearest = nearestName(name, schema.fields.keys());
  throw fail(
    `no document has a field ${quote(name)}${nearest === undefined ? '' : ` (did you mean ${quote(nearest)}?)`}`,
  );
}

/** `findColumn` for a clause of a query. */
export function clauseColumn(
  tables: SearchedTables,
  { field, fieldPosition, position }: { field: string; fieldPosition?: number; position: number },
): FoundColumn {
  return findColumn(tables, field, (problem) => clauseError(fieldPosition ?? position, problem));
}

/** SQL that is true when a document has the output of a module that is no column: its descriptor is there. */
export function hasOutput({ sqlSchema, modules }: SearchedTables, name: string): string {
  const module = modules.find(({ outputs }) => outputs.some((output) => output.name === name));
  if (module?.descriptor === undefined) return 'false';
  return `exists (select from ${descriptorTable(sqlSchema, module.name)} v where v.doc = d.doc)`;
}

/** Longer names are not compared. */
const MAX_COMPARED = 128;

/** The name that is fewest edits away, if that is few enough to be a slip of the pen. */
function nearestName(name: string, names: Iterable<string>): string | undefined {
  if (name.length > MAX_COMPARED) return undefined;
  let nearest: string | undefined;
  let fewest = Math.max(1, Math.floor(name.length / 3)) + 1;
  for (const candidate of names) {
    if (candidate.toLowerCase() === name.toLowerCase()) return candidate;
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const edits = editDistance(name, candidate);
    if (edits < fewest) {
      fewest = edits;
      nearest = candidate;
    }
  }
  return nearest;
}

/** Insertions, deletions, replacements and swaps of neighbours, in UTF-16 units of two short texts (Damerau 1964). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped =
        a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] as number) + 1 : Number.POSITIVE_INFINITY;
      next.push(Math.min(replaced, swapped, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    before = row;
    row = next;
  }
  return row[b.length] as number;
}
