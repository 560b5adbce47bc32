import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { RUN } from '../run.ts';

export const runs = endpoint({
  methods: ['GET'],
  scope: 'index',
  mount: 'collections',
  path: '/{collection}/runs',
  summary: 'List the ten newest runs over folders, with their progress and failures.',
  parameters: z.object({ collection: COLLECTION_PARAMETER, ...COMMON_PARAMETERS }),
  response: responseOf({ runs: z.array(RUN) }),
});
