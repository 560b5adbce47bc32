import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { findCollection, pauseReindex as pause } from '@akin/store';
import { presentReindex } from '../collections/present-reindex.ts';
import type { Handler } from '../http/serve.ts';

/** Has the reindex of a collection stop where it is, whichever process does it. */
export const pauseReindex: Handler<ParametersOf<Endpoints['pauseReindex']>> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const paused = await pause(store, collection);
  const body = await presentReindex(store, collection);
  if (paused || body.state === 'paused') return { body };
  throw new AkinError(
    'conflict',
    `The reindex of ${collection.name} cannot be paused: it is in the state ${body.state}.`,
  );
};
