import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { RUN_ID_PARAMETER } from './report-run.ts';

export const retryRun = endpoint({
  methods: ['POST'],
  scope: 'index',
  mount: 'collections',
  path: '/{collection}/runs/{run}/retry',
  summary: 'Index the files again that failed in a run.',
  description:
    'Only the process of the run can do this, while it runs: `akin serve` with a folder. Otherwise 409, and `error.msg` names the command to run.',
  changesData: true,
  parameters: z.object({ collection: COLLECTION_PARAMETER, run: RUN_ID_PARAMETER, ...COMMON_PARAMETERS }),
  response: responseOf({}),
  statuses: { 202: 'A new run has started.' },
});
