import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { RUN_ID_PARAMETER } from './report-run.ts';

export const dismissRun = endpoint({
  methods: ['POST'],
  scope: 'index',
  mount: 'collections',
  path: '/{collection}/runs/{run}/dismiss',
  summary: 'Remove a run from the list.',
  description: 'A run that is still reported is not removed (409).',
  changesData: true,
  parameters: z.object({ collection: COLLECTION_PARAMETER, run: RUN_ID_PARAMETER, ...COMMON_PARAMETERS }),
  response: responseOf({}),
});
