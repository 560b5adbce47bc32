import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { handleUpdate } from '../update/handle-update.ts';

/** Adds documents: no object is treated as commands here. */
export const updateJsonDocs: Handler<ParametersOf<Endpoints['updateJsonDocs']>> = (call, context) =>
  handleUpdate(call, { json: 'document', xml: false }, context);
