import { z } from 'zod';
import { COLLECTION, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const collections = endpoint({
  methods: ['GET'],
  scope: 'search',
  filtersCollections: true,
  mount: 'collections',
  path: '',
  summary: 'List all collections with their state.',
  parameters: z.object(COMMON_PARAMETERS),
  response: responseOf({ collections: z.array(COLLECTION) }),
});
