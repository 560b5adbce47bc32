import { randomUUID } from 'node:crypto';
import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { findCollection, resumeReindex as resume } from '@akin/store';
import { presentReindex } from '../collections/present-reindex.ts';
import type { Handler } from '../http/serve.ts';
import { startReindex } from '../reindex/start-reindex.ts';

/** Continues a reindex in the background of this process. */
export const resumeReindex: Handler<ParametersOf<Endpoints['resumeReindex']>> = async ({ parameters }, context) => {
  const { store } = context;
  const collection = await findCollection(store, parameters.collection);
  const holder = randomUUID();
  const begun = await resume(store, collection, holder);
  if (begun !== undefined) startReindex(collection, begun, holder, context);
  const body = await presentReindex(store, collection);
  if (begun !== undefined) return { status: 202, body };
  const why =
    body.state === 'paused' ? 'its copy was dropped. Start a new reindex' : `it is in the state ${body.state}`;
  throw new AkinError('conflict', `The reindex of ${collection.name} cannot continue: ${why}.`);
};
