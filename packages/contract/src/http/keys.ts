import { z } from 'zod';
import { COMMON_PARAMETERS, KEY, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const keys = endpoint({
  methods: ['GET'],
  scope: 'admin',
  mount: 'service',
  path: '/api/keys',
  summary: 'List all keys without their secrets, oldest first.',
  parameters: z.object(COMMON_PARAMETERS),
  response: responseOf({ keys: z.array(KEY) }),
});
