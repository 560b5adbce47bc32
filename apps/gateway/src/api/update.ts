import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Call, Handler } from '../http/serve.ts';
import { handleUpdate } from '../update/handle-update.ts';

type Parameters = ParametersOf<Endpoints['update']>;

/** Adds, replaces and deletes documents, and commits. */
export const update: Handler<Parameters> = (call, context) =>
  handleUpdate(call, { json: meaningOfSingleObject(call), xml: true }, context);

/** Below `/api/cores` a single JSON object is a document. Below the legacy segment it contains commands, as in Solr. */
export function meaningOfSingleObject({ prefix, parameters }: Call<Parameters>): 'document' | 'commands' {
  return prefix === 'cores' || !parameters['json.command'] ? 'document' : 'commands';
}
