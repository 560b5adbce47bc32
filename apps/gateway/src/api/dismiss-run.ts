import type { Endpoints, ParametersOf } from '@akin/contract';
import { findCollection, dismissRun as forget } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** Removes a run from the list. */
export const dismissRun: Handler<ParametersOf<Endpoints['dismissRun']>> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  await forget(store, collection, parameters.run);
  return { body: {} };
};
