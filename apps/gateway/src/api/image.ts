import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { handleSearch } from '../search/handle-search.ts';

/** Similar pictures. */
export const image: Handler<ParametersOf<Endpoints['image']>> = (call, context) =>
  handleSearch(call, { mode: 'content', ranked: true }, context);
