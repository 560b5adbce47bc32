import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';

export const pullModel: Handler<ParametersOf<Endpoints['pullModel']>> = ({ parameters }, { models }) => {
  models.pull(parameters.model);
  return { status: 202, body: {} };
};
