import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { choice } from '../parameter.ts';

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
