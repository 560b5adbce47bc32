import { z } from 'zod';
import { COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice } from '../parameter.ts';

export const live = endpoint({
  methods: ['GET'],
  scope: 'anyone',
  mount: 'service',
  path: '/health/live',
  summary: 'Check whether the process answers.',
  parameters: z.object({}),
  response: z.object({ status: z.literal('OK') }),
});

export const ready = endpoint({
  methods: ['GET'],
  scope: 'anyone',
  mount: 'service',
  path: '/health/ready',
  summary: 'Check whether the process can do its work. If not, the response is 503 and says why.',
  parameters: z.object({
    check: choice(['http']).optional().meta({
      description:
        '`http`: check only whether the process can answer requests. The check ignores other work, such as the jobs of an analyzer.',
    }),
  }),
  response: z.object({
    status: z.literal('OK'),
    warnings: z
      .array(z.string())
      .optional()
      .meta({ description: 'What needs the attention of an operator, for example a disk that is nearly full.' }),
  }),
});

export const metrics = endpoint({
  methods: ['GET'],
  scope: 'admin',
  mount: 'service',
  path: '/metrics',
  summary: 'Metrics for Prometheus.',
  parameters: z.object({}),
  response: 'text/plain',
});

const PROCESS = z.object({
  role: z.string().meta({ description: '`gateway`, `indexer` or `analyzer`.' }),
  version: z.string(),
  host: z.string(),
  pid: z.number(),
  address: z.string().nullable().meta({ description: 'Address that it connects from; null over a socket.' }),
  connections: z.number(),
  connectedAt: z.iso.datetime().meta({ description: 'When the oldest of its connections was made.' }),
});

export const processes = endpoint({
  methods: ['GET'],
  scope: 'admin',
  mount: 'service',
  path: '/api/processes',
  summary: 'List the processes of the fleet, by their connections.',
  description:
    'Empty if akin is one process with the embedded store. An analyzer that takes its jobs from Redis stays in the list for up to a minute after its end.',
  parameters: z.object(COMMON_PARAMETERS),
  response: responseOf({ processes: z.array(PROCESS) }),
});

export const backup = endpoint({
  methods: ['POST'],
  scope: 'admin',
  mount: 'service',
  path: '/api/backup',
  summary: 'Back up the embedded store while it serves.',
  description:
    'The response is the file that `akin restore` reads. It contains at least everything that was accepted before the request. An incomplete response is not a backup. If akin keeps its data in PostgreSQL, the response is 400: use `pg_dump`.',
  parameters: z.object(COMMON_PARAMETERS),
  response: 'application/gzip',
  statuses: { 409: 'Another backup runs.' },
});
