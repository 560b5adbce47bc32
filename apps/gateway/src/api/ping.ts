import { findCollection } from '@akin/store/database';
import type { HandlerFor } from '../http/serve.ts';

export const ping: HandlerFor<'ping'> = async ({ parameters }, { store }) => {
  await findCollection(store, parameters.collection);
  return { body: { status: 'OK' } };
};
