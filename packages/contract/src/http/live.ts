import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

export const live = endpoint({
  methods: ['GET'],
  scope: 'anyone',
  mount: 'service',
  path: '/health/live',
  summary: 'Check whether the process answers.',
  parameters: z.object({}),
  response: z.object({ status: z.literal('OK') }),
});
