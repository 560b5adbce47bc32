import type { Endpoints, ParametersOf } from '@akin/contract';
import { dropCollection as drop, findCollection } from '@akin/store';
import type { Handler } from '../http/frame.ts';

/** Drops a collection with all that it holds. */
export const dropCollection: Handler<ParametersOf<Endpoints['dropCollection']>> = async ({ parameters }, { store }) => {
  await drop(store, await findCollection(store, parameters.collection));
  return { body: {} };
};
