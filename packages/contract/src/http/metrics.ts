import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

export const metrics = endpoint({
  methods: ['GET'],
  scope: 'admin',
  under: 'service',
  path: '/metrics',
  summary: 'Metrics for Prometheus.',
  parameters: z.object({}),
  response: 'text/plain',
});
