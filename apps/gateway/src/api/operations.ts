import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { findCollection, listOperations } from '@akin/store';
import type { Handler } from '../http/serve.ts';
import { presentOperation } from '../operations/present.ts';

/** A page of accepted changes in their order, and their states. */
export const operations: Handler<ParametersOf<Endpoints['operations']>> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const { state, limit, cursor } = parameters;
  const page = await listOperations(store, collection, {
    limit,
    ...(state === undefined ? {} : { state }),
    ...(cursor === undefined ? {} : { after: readCursor(cursor) }),
  });
  return {
    body: {
      operations: page.operations.map((operation) => presentOperation(collection, operation)),
      ...(page.next === undefined ? {} : { nextCursor: String(page.next) }),
    },
  };
};

function readCursor(cursor: string): number {
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor);
  throw new AkinError('bad-request', 'Parameter cursor must be the nextCursor of an earlier response.');
}
