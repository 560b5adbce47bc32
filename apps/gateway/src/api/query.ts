import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { answerSearch } from '../search/answer-search.ts';

/** The same as `/select`, with an indented answer. */
export const query: Handler<ParametersOf<Endpoints['query']>> = (call, context) =>
  answerSearch(call, { ranked: false }, context);
