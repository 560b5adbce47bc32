import { AkinError, quote } from '@akin/domain';

/** Paths of Solr below a collection that akin does not have, with the alternative. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  mlt: 'use /image?rank.by.id=… for similar pictures, and /select for words',
  spell: 'q finds misspelled words as word~1',
  suggest: 'use /terms?terms.fl=…&terms.prefix=… for values with a prefix',
  'update/extract': 'akin does not extract text from files. Send pictures as image, or as import after /analyze',
  'update/csv': 'send documents as JSON or XML',
  stream: 'page through all documents with cursorMark on /select',
  sql: 'ask /select',
  config: 'a collection has no configuration',
  replication: 'make backups of the database',
  'schema/fields': '/schema lists all fields, and a new field is created by its first document',
  'admin/luke': '/schema lists fields with their types, /terms counts values',
  'admin/mbeans': 'metrics are in /metrics',
  'admin/file': 'a collection has no files',
};

export function unknownAddress(path: string): AkinError {
  const [, below = ''] = /^\/(?:api\/cores|[\w-]+)\/[^/]+\/(.+?)\/?$/.exec(path) ?? [];
  const instead = Object.hasOwn(UNSUPPORTED, below) ? UNSUPPORTED[below] : undefined;
  if (instead !== undefined) return new AkinError('not-found', `/${below} does not exist in akin: ${instead}.`);
  return new AkinError('not-found', `Nothing answers at ${quote(path)}: /docs lists all paths.`);
}
