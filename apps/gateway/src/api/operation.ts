import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { findCollection, findOperation } from '@akin/store';
import type { Handler } from '../http/frame.ts';
import { presentOperation } from '../operations/present.ts';

/** One accepted change and how far it got. */
export const operation: Handler<ParametersOf<Endpoints['operation']>> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const seq = seqOf(parameters.operation, collection.name);
  return { body: presentOperation(collection, await findOperation(store, collection, seq)) };
};

function seqOf(operation: string, collection: string): number {
  const seq = operation.startsWith(`${collection}-`) ? operation.slice(collection.length + 1) : '';
  if (/^[1-9]\d{0,14}$/.test(seq)) return Number(seq);
  throw new AkinError('not-found', `${collection} has no operation of that name: they look like ${collection}-17.`);
}
