import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, OPERATION, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice, integer, text } from '../parameter.ts';

export const operations = endpoint({
  methods: ['GET'],
  scope: 'index',
  mount: 'collections',
  path: '/{collection}/operations',
  summary: 'List accepted operations in order, with their states.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    state: choice(['queued', 'analyzing', 'ready', 'visible', 'failed', 'superseded'])
      .optional()
      .meta({ description: 'Only operations in this state.' }),
    limit: integer(1, 1000).default(100).meta({ description: 'Maximum number of operations on the page.' }),
    cursor: text().optional().meta({ description: 'The `nextCursor` of the previous page.' }),
    ...COMMON_PARAMETERS,
  }),
  response: responseOf({ operations: z.array(OPERATION), nextCursor: z.string().optional() }),
});
