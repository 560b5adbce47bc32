import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, ERROR_DETAIL, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';

/** Progress of a reindex. */
export const REINDEX = z
  .object({
    state: z.enum(['copying', 'analyzing', 'switching', 'paused', 'done', 'failed']),
    alive: z.boolean().meta({
      description: 'Whether a process is working on it. If its process ended, another one continues soon.',
    }),
    beganAt: z.string(),
    model: z.string().optional().meta({ description: 'The name of the new content model.' }),
    documents: z.int().meta({ description: 'Documents to copy.' }),
    copied: z
      .int()
      .meta({ description: 'Documents that were copied. A document that changed during the reindex counts again.' }),
    analyzed: z.int().meta({ description: 'Documents whose pictures are analyzed again.' }),
    thumbnails: z.int().meta({
      description:
        'Documents that were analyzed from their thumbnails, because nothing else was available. Their descriptors are less exact.',
    }),
    pending: z.int().meta({ description: 'Copies that wait for their analysis or for a commit.' }),
    message: z.string().optional().meta({ description: 'What went wrong.' }),
    missing: z.array(ERROR_DETAIL).meta({ description: 'Documents that cannot be copied, the first 1,000.' }),
  })
  .meta({ id: 'Reindex' });

export const reindexStatus = endpoint({
  scope: 'index',
  methods: ['GET'],
  mount: 'collections',
  path: '/{collection}/reindex',
  summary: 'Progress of the reindex of a collection, or how the last one ended.',
  parameters: z.object({ collection: COLLECTION_PARAMETER, ...COMMON_PARAMETERS }),
  response: responseOf(REINDEX.shape),
});
