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

export const openapiLegacy = endpoint({
  methods: ['GET'],
  scope: 'anyone',
  mount: 'service',
  path: '/openapi-legacy.json',
  summary: 'The endpoints for clients of Solr and Flow, as OpenAPI 3.1.',
  parameters: z.object({}),
  response: z.record(z.string(), z.unknown()),
});

export const docs = endpoint({
  methods: ['GET'],
  scope: 'anyone',
  mount: 'service',
  path: '/docs',
  summary: 'The same as an HTML page.',
  parameters: z.object({}),
  response: 'text/html',
});
