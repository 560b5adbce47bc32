import { FILE_FIELDS } from '@akin/domain';
import type { CollectionSchema } from '../context.ts';

/** The column of a field that says which file a document came from. Undefined if the field means something else. */
export function fileColumn({ columns }: CollectionSchema, name: keyof typeof FILE_FIELDS): string | undefined {
  const column = columns.get(name);
  return column?.kind === 'column' && column.type === FILE_FIELDS[name] ? column.sql : undefined;
}
