import { isTrash, TRASH_DAYS, TRASHED_AT } from '@akin/domain';
import { compileDelete } from '../changes/accept/compile-delete.ts';
import { Staging } from '../changes/accept/staging.ts';
import type { Store } from '../changes/context.ts';
import { LIVE } from '../database/collections/collection-tables.ts';
import { loadSchema } from '../database/collections/schema.ts';
import type { Collection } from '../database/context.ts';
import { Params } from '../search/params.ts';

const QUERY = `${TRASHED_AT}:[* TO NOW-${TRASH_DAYS}DAYS]`;

/** Deletes the documents that have been in a trash for too long. They are gone after the next commit. */
export async function expireTrash(store: Store, collection: Collection): Promise<void> {
  if (!isTrash(collection.name)) return;
  const schema = await loadSchema(store, collection);
  if (schema.fields.get(TRASHED_AT)?.type !== 'date') return;
  const params = new Params();
  const where = compileDelete({ store, collection, schema }, QUERY, new Date(), params);
  const [row] = await store.engine.query<{ some: boolean }>(
    `select exists (select from ${collection.sqlSchema}.documents d where d.valid_to = ${LIVE} and ${where}) as some`,
    params.values,
    'bulk',
  );
  if (row?.some !== true) return;
  // Their files were deleted on purpose before.
  const staging = new Staging(store, collection, { tombstones: false });
  try {
    await staging.add([{ kind: 'delete-by-query', query: QUERY }]);
    await staging.accept();
  } finally {
    await staging.discard();
  }
}
