import type { Endpoints, ParametersOf } from '@akin/contract';
import { findCollection, listDecisions } from '@akin/store';
import { readPairCursor, writePairCursor } from '../http/id-cursor.ts';
import type { Handler } from '../http/serve.ts';

/** A page of the pairs of documents that may not be in one group. */
export const groupDecisions: Handler<ParametersOf<Endpoints['groupDecisions']>> = async ({ parameters }, { store }) => {
  const { rows, cursor } = parameters;
  const after = cursor === undefined ? undefined : readPairCursor(cursor);
  const collection = await findCollection(store, parameters.collection);
  const { decisions, next } = await listDecisions(store, collection, { limit: rows, after });
  return {
    body: {
      decisions: decisions.map((ids) => ({ ids, decision: 'different' })),
      ...(next === undefined ? {} : { nextCursor: writePairCursor(next) }),
    },
  };
};
