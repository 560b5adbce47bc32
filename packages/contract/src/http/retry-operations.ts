import { ERROR_CODES } from '@akin/domain';
import { z } from 'zod';
import { answer, COLLECTION_PARAMETER, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice } from '../parameter.ts';

export const retryOperations = endpoint({
  methods: ['POST'],
  scope: 'index',
  under: 'collections',
  path: '/{collection}/operations/retry',
  summary: 'Set all failed changes on their way again, or those that failed for one reason.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    reason: choice([...ERROR_CODES])
      .optional()
      .meta({ description: 'Only changes whose `reason.code` is this.', example: 'image-unreachable' }),
    ...COMMON_PARAMETERS,
  }),
  answer: answer({
    retried: z.int().meta({ description: 'Changes that are on their way again.' }),
    superseded: z.int().meta({ description: 'Changes that are not, since a later one has changed the same document.' }),
  }),
  changes: true,
});
