import { listCollections } from '@akin/store';
import { presentCollection } from '../collections/present.ts';
import type { Handler } from '../http/serve.ts';

export const collections: Handler<unknown> = async ({ access }, { store }) => {
  const list = (await listCollections(store)).filter(({ name }) => access.allowsCollection(name));
  return { body: { collections: await Promise.all(list.map((collection) => presentCollection(store, collection))) } };
};
