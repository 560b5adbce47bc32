import type { Endpoints, ParametersOf } from '@akin/contract';
import { findCollection } from '@akin/store';
import { presentReindex } from '../collections/present-reindex.ts';
import type { Handler } from '../http/serve.ts';

export const reindexStatus: Handler<ParametersOf<Endpoints['reindexStatus']>> = async ({ parameters }, { store }) => ({
  body: await presentReindex(store, await findCollection(store, parameters.collection)),
});
