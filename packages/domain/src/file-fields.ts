import type { FieldType } from './schema.ts';

/** The fields that name the file of a document, and tell that the file is what was indexed, with their types. */
export const PLACE_FIELDS = { source: 'string', path: 'string', bytes: 'long', file_hash: 'long' } as const;

/** Also when the file was changed, and its number on the disk. */
export const FILE_FIELDS = { ...PLACE_FIELDS, modified: 'date', file_inode: 'long' } as const satisfies Readonly<
  Record<string, FieldType>
>;
