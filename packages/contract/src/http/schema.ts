import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const schema = endpoint({
  methods: ['GET'],
  scope: 'search',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/schema',
  summary: 'List the fields of a collection with their types.',
  parameters: z.object({ collection: COLLECTION_PARAMETER, ...COMMON_PARAMETERS }),
  response: responseOf({
    schema: z.object({
      name: z.string(),
      uniqueKey: z.literal('id'),
      fields: z.array(
        z.object({
          name: z.string(),
          type: z.string().meta({ example: 'long' }),
          multiValued: z.boolean(),
          required: z.boolean(),
          stored: z.boolean(),
          origin: z.enum(['preconfigured', 'analysis', 'document']).meta({ description: 'What defined the field.' }),
        }),
      ),
    }),
  }),
});
