import { MAX_SHARDS, SCOPES } from '@akin/domain';
import { z } from 'zod';
import {
  COLLECTION,
  COMMON_PARAMETERS,
  collectionParameters,
  MODULE_NAMES,
  QUOTA_PARAMETERS,
  responseOf,
} from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { integer, text } from '../parameter.ts';

export const collections = endpoint({
  methods: ['GET'],
  scope: 'search',
  filtersCollections: true,
  path: '',
  summary: 'List all collections with their state.',
  parameters: z.object(COMMON_PARAMETERS),
  response: responseOf({ collections: z.array(COLLECTION) }),
});

export const collectionStatus = endpoint({
  methods: ['GET'],
  scope: 'search',
  path: '/{collection}',
  summary: 'Get the state of one collection.',
  parameters: collectionParameters({}),
  response: responseOf({
    ...COLLECTION.shape,
    scope: z
      .enum(SCOPES)
      .meta({ description: 'What this request may do: the scope of its key, or `admin` without keys.' }),
  }),
});

export const createCollection = endpoint({
  methods: ['PUT'],
  scope: 'admin',
  path: '/{collection}',
  summary: 'Create an empty collection.',
  description:
    'The only settings of a collection are its content model, its modules, its number of shards and its quota. The body must be `{}` or empty.',
  parameters: collectionParameters({
    model: text().optional().meta({
      description:
        'The name of an installed content model (`akin models` lists them); `akin` for akin’s own. Default: that of `--content-model`.',
      example: 'dinov2-small',
    }),
    modules: text().optional().meta({
      description:
        'The modules that analyze its pictures unless `modules.apply` names others, separated by commas. Default: all but `parts`.',
      example: MODULE_NAMES,
    }),
    shards: integer(1, MAX_SHARDS)
      .optional()
      .meta({
        description: `Number of shards, 1 to ${MAX_SHARDS}. Default: 1. A reindex can change it.`,
        example: 4,
      }),
    ...QUOTA_PARAMETERS,
  }),
  bodies: { 'application/json': z.object({}) },
  response: responseOf(COLLECTION.shape),
  statuses: { 201: 'Created.' },
});

export const setQuota = endpoint({
  methods: ['PUT'],
  scope: 'admin',
  path: '/{collection}/quota',
  summary: 'Set how many documents and bytes a collection may have.',
  description:
    'Replaces the quota: without a parameter there is no such limit. Updates that would exceed it get 507, and nothing of them is accepted. Deletes are always accepted. At the limit of documents, existing documents can still be updated. A quota below what the collection has deletes nothing.',
  parameters: collectionParameters({ ...QUOTA_PARAMETERS }),
  bodies: {
    'application/json': z.object({ maxDocuments: z.int().optional(), maxBytes: z.int().optional() }),
  },
  response: responseOf(COLLECTION.shape),
});

export const dropCollection = endpoint({
  methods: ['DELETE'],
  scope: 'admin',
  path: '/{collection}',
  summary: 'Drop a collection and all its documents.',
  parameters: collectionParameters({}),
  response: responseOf({}),
});
