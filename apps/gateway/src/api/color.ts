import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { handleSearch } from '../search/handle-search.ts';

export const color: Handler<ParametersOf<Endpoints['color']>> = (call, context) =>
  handleSearch(call, { mode: 'color', ranked: true }, context);
