import type { Endpoints, ParametersOf } from '@akin/contract';
import { withErrorContext } from '@akin/domain';
import { parseModulesApply } from '@akin/modules/manifests';
import { createCollection as create } from '@akin/store';
import { presentCollection } from '../collections/present.ts';
import { readQuota } from '../collections/read-quota.ts';
import type { Handler } from '../http/serve.ts';
import { requireAnalysis } from '../reindex/require-analysis.ts';

/** Creates an empty collection. Conflict if the name is used, or no analyzer can use its model. */
export const createCollection: Handler<ParametersOf<Endpoints['createCollection']>> = async (
  { parameters, signal },
  context,
) => {
  const { store } = context;
  const { model, modules, shards = 1 } = parameters;
  if (model !== undefined) {
    const { models } = await store.modelSets.ofName(model);
    await requireAnalysis(models.get('content'), context, signal);
  }
  const settings = {
    ...(model === undefined ? {} : { model }),
    ...(modules === undefined ? {} : { modules: withErrorContext('modules', () => parseModulesApply(modules)) }),
    ...(shards === 1 ? {} : { shards }),
  };
  const collection = await create(store, parameters.collection, settings, readQuota(parameters));
  return { status: 201, body: await presentCollection(store, collection) };
};
