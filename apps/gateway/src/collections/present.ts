import type { Store } from '@akin/store/changes';
import { appliedModules, type Collection, collectionStatus, modelSetOf } from '@akin/store/database';

export async function presentCollection(store: Store, collection: Collection): Promise<Record<string, unknown>> {
  const status = await collectionStatus(store, collection);
  const modules = appliedModules(store, collection);
  return {
    name: collection.name,
    documents: status.documents,
    commit: status.commit,
    committedAt: status.committedAt,
    pending: status.pending,
    failed: status.failed,
    failures: status.failures,
    shards: status.shards,
    ...(modules && { modules }),
    bytes: status.bytes,
    ...status.quota,
    ...(status.contentModel === undefined ? {} : { model: await presentModel(store, status.contentModel) }),
  };
}

/** The content model of a collection. `words` is true if this process runs the model and it has a text encoder. */
async function presentModel(store: Store, id: string): Promise<Record<string, unknown>> {
  const wanted = new Map([['content', id]]);
  await store.modelSets.discover(wanted);
  const { contentName, models, textCalibration, contentVector } = modelSetOf(store, { models: wanted });
  const [name = '', ...hash] = id.split(':');
  const isHere = models.get('content') === id;
  return {
    name: (isHere ? contentName : undefined) ?? name,
    hash: hash.join(':'),
    words: isHere && textCalibration !== undefined,
    ...(isHere && contentVector !== undefined ? { vector: contentVector } : {}),
  };
}
