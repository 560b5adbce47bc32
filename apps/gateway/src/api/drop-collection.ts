import type { Endpoints, ParametersOf } from '@akin/contract';
import { dropCollection as drop, findCollection } from '@akin/store';
import type { Handler } from '../http/serve.ts';

export const dropCollection: Handler<ParametersOf<Endpoints['dropCollection']>> = async (
  { parameters },
  { store, keyRing, originals },
) => {
  const collection = await findCollection(store, parameters.collection);
  await originals.forget(collection.name);
  await drop(store, collection);
  // Keys no longer contain this collection.
  await keyRing.reload();
  return { body: {} };
};
