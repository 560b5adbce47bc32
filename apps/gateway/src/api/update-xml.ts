import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { handleUpdate } from '../update/handle-update.ts';

/** The update with XML only, at the path of old clients. */
export const updateXml: Handler<ParametersOf<Endpoints['updateXml']>> = (call, context) =>
  handleUpdate(call, { xml: true }, context);
