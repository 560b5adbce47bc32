import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

export const openapi = endpoint({
  methods: ['GET'],
  scope: 'anyone',
  mount: 'service',
  path: '/openapi.json',
  summary: 'This document: OpenAPI 3.1.',
  parameters: z.object({}),
  response: z.record(z.string(), z.unknown()),
});
