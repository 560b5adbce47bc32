import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

export const docs = endpoint({
  methods: ['GET'],
  scope: 'anyone',
  mount: 'service',
  path: '/docs',
  summary: 'The same as an HTML page.',
  parameters: z.object({}),
  response: 'text/html',
});
