import type { Endpoints, ParametersOf } from '@akin/contract';
import { withErrorContext } from '@akin/domain';
import { parseModulesApply } from '@akin/modules/manifests';
import {
  createCollection as create,
  findCollection,
  listCollections,
  type Quota,
  setQuota as set,
} from '@akin/store/database';
import { dropCollection as drop } from '@akin/store/maintenance';
import { presentCollection } from '../collections/present.ts';
import type { Handler, HandlerFor } from '../http/serve.ts';
import { requireAnalysis } from '../reindex/require-analysis.ts';

export const collections: Handler<unknown> = async ({ access }, { store }) => {
  const list = (await listCollections(store)).filter(({ name }) => access.allowsCollection(name));
  return { body: { collections: await Promise.all(list.map((collection) => presentCollection(store, collection))) } };
};

export const collectionStatus: HandlerFor<'collectionStatus'> = async ({ parameters, access }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const warning = await store.engine.disk?.warning();
  const body = { ...(await presentCollection(store, collection)), scope: access.scope };
  return { warnings: warning === undefined ? [] : [warning], body };
};

/** Creates an empty collection. Conflict if the name is used, or no analyzer can use its model. */
export const createCollection: HandlerFor<'createCollection'> = async ({ parameters, signal }, context) => {
  const { store } = context;
  const { model, modules, shards = 1 } = parameters;
  if (model !== undefined) {
    const { models } = await store.modelSets.ofName(model);
    await requireAnalysis(models.get('content'), context, signal);
  }
  const settings = {
    ...(model === undefined ? {} : { model }),
    ...(modules === undefined ? {} : { modules: withErrorContext('modules', () => parseModulesApply(modules)) }),
    ...(shards === 1 ? {} : { shards }),
  };
  const collection = await create(store, parameters.collection, settings, quotaOf(parameters));
  return { status: 201, body: await presentCollection(store, collection) };
};

export const setQuota: HandlerFor<'setQuota'> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  await set(store, collection, quotaOf(parameters));
  return { body: await presentCollection(store, collection) };
};

/** A missing parameter means no limit. */
function quotaOf({ maxDocuments, maxBytes }: Pick<ParametersOf<Endpoints['setQuota']>, keyof Quota>): Quota {
  return { maxDocuments: maxDocuments ?? null, maxBytes: maxBytes ?? null };
}

export const dropCollection: HandlerFor<'dropCollection'> = async ({ parameters }, { store, keyRing, originals }) => {
  const collection = await findCollection(store, parameters.collection);
  await originals.forget(collection.name);
  await drop(store, collection);
  // Keys no longer contain this collection.
  await keyRing.reload();
  return { body: {} };
};
