import { z } from 'zod';
import { collectionParameters, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';
import { MAX_RUN_FAILURES, RUN, RUN_REPORT } from '../run.ts';

export const runs = endpoint({
  methods: ['GET'],
  scope: 'index',
  path: '/{collection}/runs',
  summary: 'List the ten newest runs over folders, with their progress and failures.',
  parameters: collectionParameters({}),
  response: responseOf({ runs: z.array(RUN) }),
});

const RUN_ID_PARAMETER = text()
  .regex(/^[\w.-]{1,100}$/, 'must be 1 to 100 letters, digits, dots, hyphens or underscores')
  .meta({ description: 'Id of the run.', example: '0b0e7f04-6f0c-4d0a-9d35-1c2d9a6f5a11' });

export const reportRun = endpoint({
  methods: ['PUT'],
  scope: 'index',
  path: '/{collection}/runs/{run}',
  summary: 'Report the state of a run over a folder.',
  description:
    'The program that indexes chooses an id and reports every few seconds. A collection keeps the ten runs that were reported last.',
  parameters: collectionParameters({
    run: RUN_ID_PARAMETER,
    ...RUN_REPORT,
    failures: z
      .array(text())
      .max(MAX_RUN_FAILURES, `must be at most ${MAX_RUN_FAILURES}`)
      .default([])
      .meta({
        description: 'All failures so far, each a JSON object. If none are given, those of the last report stay.',
        example: ['{"path":"/home/me/Pictures/a.heic","code":"unsupported-image","msg":"HEIC is not read."}'],
      }),
  }),
  bodies: {
    'application/json': RUN.omit({ id: true, failuresMore: true, startedAt: true })
      .partial()
      .required({ source: true, state: true }),
  },
  jsonParameters: ['failures'],
  response: responseOf({ run: RUN }),
});

export const retryRun = endpoint({
  methods: ['POST'],
  scope: 'index',
  path: '/{collection}/runs/{run}/retry',
  summary: 'Index the files again that failed in a run.',
  description:
    'Only the process of the run can do this, while it runs: `akin serve` with a folder. Otherwise 409, and `error.msg` names the command to run.',
  parameters: collectionParameters({ run: RUN_ID_PARAMETER }),
  response: responseOf({}),
  statuses: { 202: 'A new run has started.' },
});

export const dismissRun = endpoint({
  methods: ['POST'],
  scope: 'index',
  path: '/{collection}/runs/{run}/dismiss',
  summary: 'Remove a run from the list.',
  description: 'A run that is still reported is not removed (409).',
  parameters: collectionParameters({ run: RUN_ID_PARAMETER }),
  response: responseOf({}),
});
