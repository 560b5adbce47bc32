import type { Store } from '@akin/store/changes';
import { type Collection, collectionStatus, listCollections } from '@akin/store/database';
import type { HandlerFor } from '../http/serve.ts';

export const coreStatus: HandlerFor<'coreStatus'> = async ({ parameters, access }, { store }) => {
  const { core } = parameters;
  const list = (await listCollections(store)).filter(
    ({ name }) => access.allowsCollection(name) && (core === undefined || name === core),
  );
  const found = await Promise.all(list.map(async (one) => [one.name, await stateOf(one, store)] as const));
  const status = new Map<string, unknown>(found);
  if (core !== undefined && !status.has(core)) status.set(core, {});
  return { body: { initFailures: {}, status } };
};

async function stateOf(collection: Collection, store: Store): Promise<Record<string, unknown>> {
  const { documents, commit, committedAt } = await collectionStatus(store, collection);
  return {
    name: collection.name,
    index: {
      numDocs: documents,
      maxDoc: documents,
      deletedDocs: 0,
      version: commit,
      hasDeletions: false,
      lastModified: committedAt ?? undefined,
    },
  };
}
