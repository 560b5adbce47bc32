import { randomUUID } from 'node:crypto';
import type { Endpoints, ParametersOf } from '@akin/contract';
import { AkinError, quote } from '@akin/domain';
import { beginReindex, findCollection, loadSchema, type ReindexSettings } from '@akin/store';
import { readFieldTypes } from '../collections/field-types.ts';
import { presentReindex } from '../collections/present-reindex.ts';
import type { Handler } from '../http/serve.ts';
import { requireAnalysis } from '../reindex/require-analysis.ts';
import { startReindex } from '../reindex/start-reindex.ts';

/** Reindexes a collection in the background of this process. If the process ends, another gateway continues. */
export const reindex: Handler<ParametersOf<Endpoints['reindex']>> = async ({ parameters, access, signal }, context) => {
  const { store } = context;
  const collection = await findCollection(store, parameters.collection);
  const types = readFieldTypes(parameters.field);
  const { fields } = await loadSchema(store, collection);
  const unknown = [...types.keys()].find((name) => !fields.has(name));
  if (unknown !== undefined) {
    throw new AkinError(
      'bad-request',
      `Parameter field: ${collection.name} has no field ${quote(unknown)} whose type could change.`,
    );
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
