import { z } from 'zod';
import { COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';

export const revokeKey = endpoint({
  methods: ['DELETE'],
  scope: 'admin',
  mount: 'service',
  path: '/api/keys/{id}',
  summary: 'Revoke a key permanently. All gateways refuse it within a few seconds.',
  parameters: z.object({
    id: text().meta({ description: 'Id of the key, from the list of keys.' }),
    ...COMMON_PARAMETERS,
  }),
  response: responseOf({}),
});
