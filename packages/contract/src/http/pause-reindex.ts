import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { REINDEX } from './reindex-status.ts';

export const pauseReindex = endpoint({
  scope: 'admin',
  methods: ['POST'],
  mount: 'collections',
  path: '/{collection}/reindex/pause',
  summary: 'Pause the reindex of a collection.',
  description:
    'Analyses in progress are finished. Copied documents are kept. To abandon a paused reindex, drop the collection `<name>.reindex`. 409 if no reindex runs, or if it is about to swap.',
  changesData: true,
  parameters: z.object({ collection: COLLECTION_PARAMETER, ...COMMON_PARAMETERS }),
  bodies: { 'application/json': z.object({}) },
  response: responseOf(REINDEX.shape),
});
