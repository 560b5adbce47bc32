import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const dropCollection = endpoint({
  methods: ['DELETE'],
  scope: 'admin',
  under: 'collections',
  path: '/{collection}',
  summary: 'Drop a collection and all its documents.',
  changes: true,
  parameters: z.object({ collection: COLLECTION_PARAMETER, ...COMMON_PARAMETERS }),
  response: responseOf({}),
});
