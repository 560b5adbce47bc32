import { type Collection, collectionStatus, type Store } from '@akin/store';

/** The state of a collection as clients see it. */
export async function presentCollection(store: Store, collection: Collection): Promise<Record<string, unknown>> {
  const status = await collectionStatus(store, collection);
  return {
    name: collection.name,
    documents: status.documents,
    commit: status.commit,
    committedAt: status.committedAt,
    pending: status.pending,
    failed: status.failed,
    failures: status.failures,
  };
}
