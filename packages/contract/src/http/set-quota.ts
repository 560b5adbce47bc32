import { z } from 'zod';
import { COLLECTION, COLLECTION_PARAMETER, COMMON_PARAMETERS, QUOTA_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const setQuota = endpoint({
  methods: ['PUT'],
  scope: 'admin',
  mount: 'collections',
  path: '/{collection}/quota',
  summary: 'Set how many documents and bytes a collection may have.',
  description:
    'Replaces the quota: without a parameter there is no such limit. Updates that would exceed it get 507, and nothing of them is accepted. Deletes are always accepted. At the limit of documents, existing documents can still be updated. A quota below what the collection has deletes nothing.',
  changesData: true,
  parameters: z.object({ collection: COLLECTION_PARAMETER, ...QUOTA_PARAMETERS, ...COMMON_PARAMETERS }),
  bodies: {
    'application/json': z.object({ maxDocuments: z.int().optional(), maxBytes: z.int().optional() }),
  },
  response: responseOf(COLLECTION.shape),
});
