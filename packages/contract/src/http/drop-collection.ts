import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const dropCollection = endpoint({
  methods: ['DELETE'],
  scope: 'admin',
  mount: 'collections',
  path: '/{collection}',
  summary: 'Drop a collection and all its documents.',
  changesData: true,
  parameters: z.object({ collection: COLLECTION_PARAMETER, ...COMMON_PARAMETERS }),
  response: responseOf({}),
});
