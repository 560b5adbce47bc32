import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { answerSearch } from '../search/answer-search.ts';

/** Search without a preset: it ranks only when the request says by what. */
export const select: Handler<ParametersOf<Endpoints['select']>> = (call, context) =>
  answerSearch(call, { ranked: false }, context);
