import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { answerSearch } from '../search/answer-search.ts';

/** Similar pictures. */
export const image: Handler<ParametersOf<Endpoints['image']>> = (call, context) =>
  answerSearch(call, { mode: 'content', ranked: true }, context);
