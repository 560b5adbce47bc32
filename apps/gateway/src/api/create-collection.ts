import type { Endpoints, ParametersOf } from '@akin/contract';
import { createCollection as create } from '@akin/store';
import { presentCollection } from '../collections/present.ts';
import type { Handler } from '../http/frame.ts';

/** Creates an empty collection; a conflict when the name is taken. */
export const createCollection: Handler<ParametersOf<Endpoints['createCollection']>> = async (
  { parameters },
  { store },
) => {
  const collection = await create(store, parameters.collection);
  return { status: 201, body: await presentCollection(store, collection) };
};
