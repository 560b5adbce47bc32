import { z } from 'zod';
import { collectionParameters, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice } from '../parameter.ts';

export const ping = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  path: '/{collection}/admin/ping',
  summary: 'Check whether the collection can be used: 200 if it can, 503 if its store cannot be reached.',
  parameters: collectionParameters({
    action: z
      .string()
      .transform((word) => word.toLowerCase())
      .pipe(choice(['ping']))
      .optional()
      .meta({ description: 'Old clients send `ping`. A collection cannot be disabled.' }),
  }),
  response: responseOf({ status: z.literal('OK') }),
});
