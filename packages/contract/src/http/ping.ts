import { z } from 'zod';
import { answer, COLLECTION_PARAMETER, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const ping = endpoint({
  methods: ['GET', 'POST'],
  under: 'collections',
  path: '/{collection}/admin/ping',
  summary: 'Whether the collection can be used: 200 when it can, 503 when its store cannot be reached.',
  parameters: z.object({ collection: COLLECTION_PARAMETER, ...COMMON_PARAMETERS }),
  answer: answer({ status: z.literal('OK') }),
});
