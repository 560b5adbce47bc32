import { z } from 'zod';
import { collectionParameters, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const pixolution = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  path: '/{collection}/pixolution',
  summary: 'Check a collection: its store, its fields and its modules.',
  parameters: collectionParameters({}),
  response: responseOf({
    status: z.enum(['OK', 'FAILED']),
    checks: z.array(z.object({ name: z.string(), ok: z.boolean(), msg: z.string() })),
  }),
});
