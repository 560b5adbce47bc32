import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

export const ready = endpoint({
  methods: ['GET'],
  scope: 'anyone',
  under: 'service',
  path: '/health/ready',
  summary: 'Whether requests can be served: 503, saying why, when they cannot.',
  parameters: z.object({}),
  answer: z.object({ status: z.literal('OK') }),
});
