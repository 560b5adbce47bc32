import { z } from 'zod';
import { answer, COLLECTION_PARAMETER, COMMON_PARAMETERS, OPERATION } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';

export const operation = endpoint({
  methods: ['GET'],
  scope: 'index',
  under: 'collections',
  path: '/{collection}/operations/{operation}',
  summary: 'Get one accepted operation and its state.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    operation: text().meta({
      description: 'Name of the operation, from the answer to an update.',
      example: 'my-collection-17',
    }),
    ...COMMON_PARAMETERS,
  }),
  answer: answer(OPERATION.shape),
});
