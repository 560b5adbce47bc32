import { z } from 'zod';
import { COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';

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
