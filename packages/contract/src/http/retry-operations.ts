import { ERROR_CODES } from '@akin/domain';
import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice } from '../parameter.ts';

export const retryOperations = endpoint({
  methods: ['POST'],
  scope: 'index',
  mount: 'collections',
  path: '/{collection}/operations/retry',
  summary: 'Retry all failed operations, or those that failed for one reason.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    reason: choice([...ERROR_CODES])
      .optional()
      .meta({ description: 'Only operations with this `reason.code`.', example: 'image-unreachable' }),
    ...COMMON_PARAMETERS,
  }),
  response: responseOf({
    retried: z.int().meta({ description: 'Operations that are being retried.' }),
    superseded: z.int().meta({
      description: 'Operations that are not retried, because a later one has replaced or deleted the document.',
    }),
    conflicting: z.int().meta({
      description:
        'Operations that stay failed, because a later atomic update has already changed the document: send the whole document again.',
    }),
  }),
  changesData: true,
});
