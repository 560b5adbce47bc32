import { randomUUID } from 'node:crypto';
import { AkinError, badRequest, quote } from '@akin/domain';
import { findCollection, loadSchema } from '@akin/store/database';
import { beginReindex, pauseReindex as pause, type ReindexSettings } from '@akin/store/maintenance';
import { readFieldTypes } from '../collections/field-types.ts';
import { presentReindex } from '../collections/present-reindex.ts';
import type { HandlerFor } from '../http/serve.ts';
import { requireAnalysis } from '../reindex/require-analysis.ts';
import { continueReindex, startReindex } from '../reindex/start-reindex.ts';

export const reindexStatus: HandlerFor<'reindexStatus'> = async ({ parameters }, { store }) => ({
  body: await presentReindex(store, await findCollection(store, parameters.collection)),
});

/** Reindexes a collection in the background of this process. If the process ends, another gateway continues. */
export const reindex: HandlerFor<'reindex'> = async ({ parameters, access, signal }, context) => {
  const { store } = context;
  const collection = await findCollection(store, parameters.collection);
  const types = readFieldTypes(parameters.field);
  const { fields } = await loadSchema(store, collection);
  const unknown = [...types.keys()].find((name) => !fields.has(name));
  if (unknown !== undefined) {
    throw badRequest(`Parameter field: ${collection.name} has no field ${quote(unknown)} whose type could change.`);
  }
  const { outputsFrom } = parameters;
  if (outputsFrom !== undefined && !access.allowsCollection(outputsFrom)) {
    throw new AkinError('forbidden', `This key is not for the collection ${quote(outputsFrom)}.`);
  }
  if (outputsFrom !== undefined) await findCollection(store, outputsFrom);
  const { allowMissing, model, shards } = parameters;
  const settings: ReindexSettings = {
    allowMissing,
    ...(outputsFrom === undefined ? {} : { outputsFrom }),
    ...(model === undefined ? {} : { model }),
    ...(shards === undefined ? {} : { shards }),
  };
  if (model !== undefined) {
    const { models } = await store.modelSets.ofName(model);
    await requireAnalysis(models.get('content'), context, signal);
  }
  const holder = randomUUID();
  const target = await beginReindex(store, collection, holder, types, settings);
  if (target === undefined) {
    const { state } = await presentReindex(store, collection);
    throw new AkinError(
      'conflict',
      state === 'paused'
        ? `A reindex of ${collection.name} is paused: resume it (POST /reindex/resume), or drop the collection ${collection.name.slice(0, 90)}.reindex to abandon it.`
        : `${collection.name} is being reindexed already. GET /reindex shows the progress.`,
    );
  }
  startReindex(collection, { target, settings }, holder, context);
  return { status: 202, body: await presentReindex(store, collection) };
};

/** Pauses the reindex of a collection, whichever process runs it. */
export const pauseReindex: HandlerFor<'pauseReindex'> = async ({ parameters }, { store }) => {
  const collection = await findCollection(store, parameters.collection);
  const paused = await pause(store, collection);
  const body = await presentReindex(store, collection);
  if (paused || body.state === 'paused') return { body };
  throw new AkinError(
    'conflict',
    `The reindex of ${collection.name} cannot be paused: it is in the state ${body.state}.`,
  );
};

/** Continues a reindex in the background of this process. */
export const resumeReindex: HandlerFor<'resumeReindex'> = async ({ parameters }, context) => {
  const { store } = context;
  const collection = await findCollection(store, parameters.collection);
  const isResumed = await continueReindex(collection, context);
  const body = await presentReindex(store, collection);
  if (isResumed) return { status: 202, body };
  const why =
    body.state === 'paused' ? 'its copy was dropped. Start a new reindex' : `it is in the state ${body.state}`;
  throw new AkinError('conflict', `The reindex of ${collection.name} cannot continue: ${why}.`);
};
