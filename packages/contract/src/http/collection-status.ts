import { SCOPES } from '@akin/domain';
import { z } from 'zod';
import { COLLECTION, COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const collectionStatus = endpoint({
  methods: ['GET'],
  scope: 'search',
  mount: 'collections',
  path: '/{collection}',
  summary: 'Get the state of one collection.',
  parameters: z.object({ collection: COLLECTION_PARAMETER, ...COMMON_PARAMETERS }),
  response: responseOf({
    ...COLLECTION.shape,
    scope: z
      .enum(SCOPES)
      .meta({ description: 'What this request may do: the scope of its key, or `admin` without keys.' }),
  }),
});
