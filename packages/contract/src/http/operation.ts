import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, OPERATION, OPERATION_PARAMETER, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const operation = endpoint({
  methods: ['GET'],
  scope: 'index',
  mount: 'collections',
  path: '/{collection}/operations/{operation}',
  summary: 'Get one accepted operation and its state.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    operation: OPERATION_PARAMETER,
    ...COMMON_PARAMETERS,
  }),
  response: responseOf(OPERATION.shape),
});
