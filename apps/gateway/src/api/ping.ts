import type { Endpoints, ParametersOf } from '@akin/contract';
import { findCollection } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** Whether the collection can be used. A store that is down is a 503 by its own error. */
export const ping: Handler<ParametersOf<Endpoints['ping']>> = async ({ parameters }, { store }) => {
  await findCollection(store, parameters.collection);
  return { body: { status: 'OK' } };
};
