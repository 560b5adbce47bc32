import { AkinError } from '@akin/domain';

/** What Solr answers below a collection and akin does not, with what there is instead. */
const UNSUPPORTED: Readonly<Record<string, string>> = {
  mlt: 'what looks alike is /image?rank.by.id=…, and /select finds words',
  spell: 'q understands slips of the pen as word~1',
  suggest: 'values that begin so are /terms?terms.fl=…&terms.prefix=…',
  'update/extract': 'text of files is not read; pictures come by image, or as import after /analyze',
  'update/csv': 'send documents as JSON or XML',
  export: 'page through all with cursorMark on /select',
  stream: 'page through all with cursorMark on /select',
  sql: 'ask /select',
  config: 'a collection has nothing to configure',
  replication: 'the database is what is copied',
  'schema/fields': 'all fields are in /schema, and a new one is made by the first document that has it',
  'admin/luke': 'fields with their types are in /schema, counts of values in /terms',
  'admin/mbeans': 'figures are in /metrics',
  'admin/file': 'a collection has no files',
};

/** The error for an address that nothing answers at. */
export function unknownAddress(path: string): AkinError {
  const [, below = ''] = /^\/(?:api\/cores|[\w-]+)\/[^/]+\/(.+?)\/?$/.exec(path) ?? [];
  const instead = Object.hasOwn(UNSUPPORTED, below) ? UNSUPPORTED[below] : undefined;
  if (instead !== undefined) return new AkinError('not-found', `/${below} does not exist in akin: ${instead}.`);
  return new AkinError('not-found', `Nothing answers at ${path}: /docs lists all paths.`);
}
