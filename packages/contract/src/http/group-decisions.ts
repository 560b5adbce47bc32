import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { integer, text } from '../parameter.ts';

export const groupDecisions = endpoint({
  methods: ['GET'],
  scope: 'index',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/groups/decisions',
  summary: 'List the pairs of documents that may not be in one group, ordered by id.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    rows: integer(1, 1_000).default(100).meta({ description: 'Maximum number of decisions on the page.' }),
    cursor: text().optional().meta({ description: 'The `nextCursor` of the previous page.' }),
    ...COMMON_PARAMETERS,
  }),
  response: responseOf({
    decisions: z.array(z.object({ ids: z.tuple([z.string(), z.string()]), decision: z.literal('different') })),
    nextCursor: z.string().optional(),
  }),
});
