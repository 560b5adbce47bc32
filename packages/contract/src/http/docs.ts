import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

export const docs = endpoint({
  methods: ['GET'],
  scope: 'anyone',
  under: 'service',
  path: '/docs',
  summary: 'The same as a page for people.',
  parameters: z.object({}),
  answer: 'text/html',
});
