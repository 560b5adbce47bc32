import { z } from 'zod';
import { answer, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';

export const revokeKey = endpoint({
  methods: ['DELETE'],
  scope: 'admin',
  under: 'service',
  path: '/api/keys/{id}',
  summary: 'Revoke a key, for good. Every gateway refuses it after a few seconds at most.',
  parameters: z.object({ id: text().meta({ description: 'Its id, as the list tells it.' }), ...COMMON_PARAMETERS }),
  answer: answer({}),
});
