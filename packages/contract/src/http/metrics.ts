import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

export const metrics = endpoint({
  methods: ['GET'],
  scope: 'admin',
  mount: 'service',
  path: '/metrics',
  summary: 'Metrics for Prometheus.',
  parameters: z.object({}),
  response: 'text/plain',
});
