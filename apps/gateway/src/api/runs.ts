import type { Endpoints, ParametersOf } from '@akin/contract';
import { findCollection, listRuns } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** The newest runs over folders. */
export const runs: Handler<ParametersOf<Endpoints['runs']>> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  return { body: { runs: await listRuns(store, collection) } };
};
