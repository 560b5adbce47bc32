import { z } from 'zod';
import { answer, COLLECTION_PARAMETER, COMMON_PARAMETERS, ERROR_DETAIL } from '../common.ts';
import { endpoint } from '../endpoint.ts';

/** How far the making anew of a collection is. */
export const REINDEX = z
  .object({
    state: z.enum(['copying', 'analyzing', 'switching', 'done', 'failed']),
    alive: z.boolean().meta({
      description: 'Whether somebody is at it. When not, and it is neither done nor failed, begin again.',
    }),
    beganAt: z.string(),
    documents: z.int().meta({ description: 'Documents to copy.' }),
    copied: z.int().meta({ description: 'Those that are, and those that changed meanwhile once more.' }),
    analyzed: z.int().meta({ description: 'Documents whose pictures are analyzed again.' }),
    message: z.string().optional().meta({ description: 'What went wrong.' }),
    missing: z.array(ERROR_DETAIL).meta({ description: 'Documents that cannot come along, the first 1,000.' }),
  })
  .meta({ id: 'Reindex' });

export const reindexStatus = endpoint({
  scope: 'index',
  methods: ['GET'],
  under: 'collections',
  path: '/{collection}/reindex',
  summary: 'How far the making anew of a collection is, or how the last one ended.',
  parameters: z.object({ collection: COLLECTION_PARAMETER, ...COMMON_PARAMETERS }),
  answer: answer(REINDEX.shape),
});
