import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { handleSearch } from '../search/handle-search.ts';

/** Search without a preset. It ranks only with `rank.by.*`. */
export const select: Handler<ParametersOf<Endpoints['select']>> = (call, context) =>
  handleSearch(call, { ranked: false }, context);
