import type { Endpoints, ParametersOf } from '@akin/contract';
import { findCollection } from '@akin/store';
import { presentCollection } from '../collections/present.ts';
import type { Handler } from '../http/serve.ts';

/** State of one collection; 404 if there is none with that name. */
export const collectionStatus: Handler<ParametersOf<Endpoints['collectionStatus']>> = async (
  { parameters, access },
  { store },
) => {
  const collection = await findCollection(store, parameters.collection);
  const warning = await store.engine.disk?.warning();
  return {
    ...(warning === undefined ? {} : { header: { warnings: [warning] } }),
    body: { ...(await presentCollection(store, collection)), scope: access.scope },
  };
};
