import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { decideGroups as decide, findCollection } from '@akin/store';
import type { Handler } from '../http/serve.ts';

/** Keeps documents from being in one group, or withdraws that decision. */
export const decideGroups: Handler<ParametersOf<Endpoints['decideGroups']>> = async ({ parameters }, { store }) => {
  const ids = [...new Set(parameters.ids)];
  if (ids.length < 2) throw new AkinError('bad-request', 'Parameter ids must name at least two different documents.');
  const decision = parameters.decision === 'null' ? null : parameters.decision;
  const collection = await findCollection(store, parameters.collection);
  await decide(store, collection, ids, decision);
  return { body: { ids, decision } };
};
