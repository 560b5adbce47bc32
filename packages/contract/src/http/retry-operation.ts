import { z } from 'zod';
import { answer, COLLECTION_PARAMETER, COMMON_PARAMETERS, OPERATION } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';

export const retryOperation = endpoint({
  methods: ['POST'],
  scope: 'index',
  under: 'collections',
  path: '/{collection}/operations/{operation}/retry',
  summary: 'Set a failed change on its way again, at its old place in the order.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    operation: text().meta({ description: 'As an update answered it.', example: 'my-collection-17' }),
    ...COMMON_PARAMETERS,
  }),
  answer: answer(OPERATION.shape),
  changes: true,
});
