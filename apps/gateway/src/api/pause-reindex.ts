import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { findCollection, pauseReindex as pause } from '@akin/store';
import { presentReindex } from '../collections/present-reindex.ts';
import type { Handler } from '../http/serve.ts';

/** Pauses the reindex of a collection, whichever process runs it. */
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
