import type { Endpoints, ParametersOf } from '@akin/contract';
import { findCollection, retryFailed } from '@akin/store';
import type { Handler } from '../http/serve.ts';

export const retryOperations: Handler<ParametersOf<Endpoints['retryOperations']>> = async (
  { parameters },
  { store, wake },
) => {
  const collection = await findCollection(store, parameters.collection);
  const { reason } = parameters;
  const retried = await retryFailed(store, collection, reason === undefined ? {} : { code: reason });
  wake();
  return { body: { ...retried } };
};
