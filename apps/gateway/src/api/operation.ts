import type { Endpoints, ParametersOf } from '@akin/contract';
import { findCollection, findOperation } from '@akin/store';
import type { Handler } from '../http/serve.ts';
import { presentOperation } from '../operations/present.ts';
import { seqOf } from '../operations/seq-of.ts';

/** One accepted change and its state. */
export const operation: Handler<ParametersOf<Endpoints['operation']>> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const seq = seqOf(parameters.operation, collection.name);
  return { body: presentOperation(collection, await findOperation(store, collection, seq)) };
};
