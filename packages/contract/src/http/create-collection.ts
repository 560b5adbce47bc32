import { MAX_SHARDS } from '@akin/domain';
import { z } from 'zod';
import { COLLECTION, COLLECTION_PARAMETER, COMMON_PARAMETERS, QUOTA_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { integer, text } from '../parameter.ts';

export const createCollection = endpoint({
  methods: ['PUT'],
  scope: 'admin',
  mount: 'collections',
  path: '/{collection}',
  summary: 'Create an empty collection.',
  description:
    'The only settings of a collection are its content model, its modules, its number of shards and its quota. The body must be `{}` or empty.',
  changesData: true,
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    model: text().optional().meta({
      description:
        'The name of an installed content model (`akin models` lists them); `akin` for akin’s own. Default: that of `--content-model`.',
      example: 'dinov2-small',
    }),
    modules: text().optional().meta({
      description:
        'The modules that analyze its pictures unless `modules.apply` names others, separated by commas. Default: all but `parts`.',
      example: 'color,content,copyspace,duplicate,parts',
    }),
    shards: integer(1, MAX_SHARDS)
      .optional()
      .meta({
        description: `Number of shards, 1 to ${MAX_SHARDS}. Default: 1. A reindex can change it.`,
        example: 4,
      }),
    ...QUOTA_PARAMETERS,
    ...COMMON_PARAMETERS,
  }),
  bodies: { 'application/json': z.object({}) },
  response: responseOf(COLLECTION.shape),
  statuses: { 201: 'Created.' },
});
