import { findCollection } from '@akin/store';
import type { HandlerFor } from '../http/serve.ts';

/** Whether the collection can be used. The error of an unreachable store becomes a 503. */
export const ping: HandlerFor<'ping'> = async ({ parameters }, { store }) => {
  await findCollection(store, parameters.collection);
  return { body: { status: 'OK' } };
};
