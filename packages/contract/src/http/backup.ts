import { z } from 'zod';
import { COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';

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
