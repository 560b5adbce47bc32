import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { handleSearch } from '../search/handle-search.ts';

/** Pictures that have a part in common with another one. */
export const parts: Handler<ParametersOf<Endpoints['parts']>> = (call, context) =>
  handleSearch(call, { mode: 'parts', threshold: 0.7, ranked: true }, context);
