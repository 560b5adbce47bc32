import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice } from '../parameter.ts';

export const ping = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  path: '/{collection}/admin/ping',
  summary: 'Check whether the collection can be used: 200 if it can, 503 if its store cannot be reached.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    action: z
      .string()
      .transform((word) => word.toLowerCase())
      .pipe(choice(['ping']))
      .optional()
      .meta({ description: 'Old clients send `ping`. A collection cannot be disabled.' }),
    ...COMMON_PARAMETERS,
  }),
  response: responseOf({ status: z.literal('OK') }),
});
