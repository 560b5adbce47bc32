import { z } from 'zod';
import { answer, COLLECTION_PARAMETER, COMMON_PARAMETERS, OPERATION } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice, text, whole } from '../parameter.ts';

export const operations = endpoint({
  methods: ['GET'],
  scope: 'index',
  under: 'collections',
  path: '/{collection}/operations',
  summary: 'Accepted changes in their order, and how far they got.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    state: choice(['queued', 'analyzing', 'ready', 'visible', 'failed', 'superseded'])
      .optional()
      .meta({ description: 'Only operations in this state.' }),
    limit: whole(1, 1000).default(100).meta({ description: 'Most operations of one page.' }),
    cursor: text().optional().meta({ description: 'The `nextCursor` of the page before.' }),
    ...COMMON_PARAMETERS,
  }),
  answer: answer({ operations: z.array(OPERATION), nextCursor: z.string().optional() }),
});
