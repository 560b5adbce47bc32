import { models, wordsCalibration } from '@akin/modules/vectors';
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
    ...(status.contentModel === undefined ? {} : { model: presentModel(status.contentModel) }),
  };
}

/** The content model of a collection; words are known where this akin runs it. */
function presentModel(id: string): { name: string; hash: string; words: boolean } {
  const [name = '', ...hash] = id.split(':');
  return { name, hash: hash.join(':'), words: id === models().get('content') && wordsCalibration() !== undefined };
}
