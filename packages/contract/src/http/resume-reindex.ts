import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { REINDEX } from './reindex-status.ts';

export const resumeReindex = endpoint({
  scope: 'admin',
  methods: ['POST'],
  mount: 'collections',
  path: '/{collection}/reindex/resume',
  summary: 'Continue a paused reindex.',
  description: 'This gateway continues where the reindex stopped. 409 if it is not paused.',
  changesData: true,
  parameters: z.object({ collection: COLLECTION_PARAMETER, ...COMMON_PARAMETERS }),
  bodies: { 'application/json': z.object({}) },
  response: responseOf(REINDEX.shape),
  statuses: { 202: 'The reindex continues.' },
});
