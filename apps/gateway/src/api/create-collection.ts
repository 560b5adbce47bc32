import { ENDPOINTS, type Endpoints, type ParametersOf } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { createCollection as create } from '@akin/store';
import { presentCollection } from '../collections/present.ts';
import { readQuota } from '../collections/read-quota.ts';
import type { ParameterList } from '../http/parameters.ts';
import type { Handler } from '../http/serve.ts';
import { requireAnalysis } from '../reindex/require-analysis.ts';

/** Creates an empty collection. Conflict if the name is used, or no analyzer can use its model. */
export const createCollection: Handler<ParametersOf<Endpoints['createCollection']>> = async (
  { parameters, list, signal },
  context,
) => {
  refuseSettings(list);
  const { store } = context;
  const { model, shards = 1 } = parameters;
  if (model !== undefined) {
    const { models } = await store.modelSets.ofName(model);
    await requireAnalysis(models.get('content'), context, signal);
  }
  const settings = {
    ...(model === undefined ? {} : { model }),
    ...(shards === 1 ? {} : { shards }),
  };
  const collection = await create(store, parameters.collection, settings, readQuota(parameters));
  return { status: 201, body: await presentCollection(store, collection) };
};

/** A client would believe that an ignored setting is in force. */
function refuseSettings(list: ParameterList): void {
  const known = ENDPOINTS.createCollection.parameters.shape;
  const unknown = list.find(([name]) => !Object.hasOwn(known, name))?.[0];
  if (unknown === undefined) return;
  throw new AkinError(
    'bad-request',
    `A collection has no setting ${JSON.stringify(unknown.slice(0, 60))}. Its settings are model, shards, maxDocuments and maxBytes; documents create its fields.`,
  );
}
