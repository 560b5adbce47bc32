import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { type Decision, findCollection, listDecisions } from '@akin/store';
import { readIdCursor, writeIdCursor } from '../http/id-cursor.ts';
import type { Handler } from '../http/serve.ts';

/** A page of the pairs of documents that may not be in one group. */
export const groupDecisions: Handler<ParametersOf<Endpoints['groupDecisions']>> = async ({ parameters }, { store }) => {
  const { rows, cursor } = parameters;
  const after = cursor === undefined ? undefined : readPair(cursor);
  const collection = await findCollection(store, parameters.collection);
  const { decisions, next } = await listDecisions(store, collection, { limit: rows, after });
  return {
    body: {
      decisions: decisions.map((ids) => ({ ids, decision: 'different' })),
      ...(next === undefined ? {} : { nextCursor: writeIdCursor(JSON.stringify(next)) }),
    },
  };
};

/** @throws AkinError bad-request */
function readPair(cursor: string): Decision {
  const text = readIdCursor(cursor);
  try {
    const pair: unknown = JSON.parse(text);
    if (Array.isArray(pair) && pair.length === 2 && pair.every((id) => typeof id === 'string')) {
      return pair as unknown as Decision;
    }
  } catch {
    // The error below applies.
  }
  throw new AkinError('bad-request', 'Parameter cursor must be the nextCursor of an earlier response.');
}
