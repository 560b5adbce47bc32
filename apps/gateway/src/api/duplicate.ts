import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { answerSearch } from '../search/answer-search.ts';

/** Copies of the same picture. */
export const duplicate: Handler<ParametersOf<Endpoints['duplicate']>> = (call, context) =>
  answerSearch(call, { mode: 'duplicate', threshold: 0.7, ranked: true }, context);
