import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, OPERATION, OPERATION_PARAMETER, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const retryOperation = endpoint({
  methods: ['POST'],
  scope: 'index',
  mount: 'collections',
  path: '/{collection}/operations/{operation}/retry',
  summary: 'Retry a failed operation, at its old position in the order.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    operation: OPERATION_PARAMETER,
    ...COMMON_PARAMETERS,
  }),
  response: responseOf(OPERATION.shape),
  changesData: true,
});
