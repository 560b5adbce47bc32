import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';

export const stopPull: Handler<ParametersOf<Endpoints['stopPull']>> = async ({ parameters }, { models }) => {
  await models.stop(parameters.model);
  return { body: {} };
};
