import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/frame.ts';
import { answerSearch } from '../search/answer-search.ts';

/** Pictures that show the like. */
export const image: Handler<ParametersOf<Endpoints['image']>> = (call, context) =>
  answerSearch(call, { mode: 'content', ranked: true }, context);
