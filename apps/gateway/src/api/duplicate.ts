import type { Endpoints, ParametersOf } from '@akin/contract';
import type { Handler } from '../http/serve.ts';
import { handleSearch } from '../search/handle-search.ts';

export const duplicate: Handler<ParametersOf<Endpoints['duplicate']>> = (call, context) =>
  handleSearch(call, { mode: 'duplicate', threshold: 0.7, ranked: true }, context);
