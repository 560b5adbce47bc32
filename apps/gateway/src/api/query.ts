import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { handleSearch } from '../search/handle-search.ts';

/** The same as `/select`, with an indented response. */
export const query: Handler<ParametersOf<Endpoints['query']>> = (call, context) =>
  handleSearch(call, { ranked: false }, context);
