import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Call, HandlerFor } from '../http/serve.ts';
import { handleUpdate } from '../update/handle-update.ts';

export const update: HandlerFor<'update'> = (call, context) =>
  handleUpdate(call, { json: meaningOfSingleObject(call), xml: true }, context);

/** Below `/api/cores` a single JSON object is a document. Below the legacy segment it contains commands, as in Solr. */
function meaningOfSingleObject({
  prefix,
  parameters,
}: Call<ParametersOf<Endpoints['update']>>): 'document' | 'commands' {
  return prefix === 'cores' || !parameters['json.command'] ? 'document' : 'commands';
}

export const updateJson: HandlerFor<'updateJson'> = (call, context) =>
  handleUpdate(call, { json: meaningOfSingleObject(call), xml: false }, context);

export const updateJsonDocs: HandlerFor<'updateJsonDocs'> = (call, context) =>
  handleUpdate(call, { json: 'document', xml: false }, context);

export const updateXml: HandlerFor<'updateXml'> = (call, context) => handleUpdate(call, { xml: true }, context);
