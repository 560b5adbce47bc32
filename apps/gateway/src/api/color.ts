import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { answerSearch } from '../search/answer-search.ts';

/** Pictures with similar colours. */
export const color: Handler<ParametersOf<Endpoints['color']>> = (call, context) =>
  answerSearch(call, { mode: 'color', ranked: true }, context);
