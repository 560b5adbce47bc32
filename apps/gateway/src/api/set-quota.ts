import type { Endpoints, ParametersOf } from '@akin/contract';
import { findCollection, setQuota as set } from '@akin/store';
import { presentCollection } from '../collections/present.ts';
import { readQuota } from '../collections/read-quota.ts';
import type { Handler } from '../http/serve.ts';

export const setQuota: Handler<ParametersOf<Endpoints['setQuota']>> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  await set(store, collection, readQuota(parameters));
  return { body: await presentCollection(store, collection) };
};
