import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { handleUpdate } from '../update/handle-update.ts';
import { meaningOfSingleObject } from './update.ts';

/** The update at the path that old clients use for JSON. */
export const updateJson: Handler<ParametersOf<Endpoints['updateJson']>> = (call, context) =>
  handleUpdate(call, { json: meaningOfSingleObject(call), xml: false }, context);
