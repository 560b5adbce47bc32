import { MAX_SHARDS } from '@akin/domain';
import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { flag, integer, text } from '../parameter.ts';
import { REINDEX } from './reindex-status.ts';

export const reindex = endpoint({
  scope: 'admin',
  methods: ['POST'],
  mount: 'collections',
  path: '/{collection}/reindex',
  summary: 'Build a new version of a collection in the background, and swap the two in one step.',
  description:
    'The response is 202 at once. A GET of the same path shows the progress. Searches and changes continue meanwhile. During the swap, changes are answered with 503 and Retry-After. akin copies outputs of the right model. Other documents take the outputs of another collection (`outputsFrom`), or their pictures are analyzed again: from their URLs, from the folder if this akin indexed it, else from their thumbnails, whose number the progress shows. The old model answers until the swap. If any document cannot be copied, nothing is swapped. If the process ends, another one continues. Meanwhile another reindex of the collection gets 409.',
  changesData: true,
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    model: text().optional().meta({
      description:
        'The name of the content model that the collection gets (`akin models` lists them); `akin` for akin’s own. Default: the one that was chosen for the collection, else that of `--content-model`.',
      example: 'dinov2-small',
    }),
    field: z
      .array(text())
      .default([])
      .meta({
        description: '`name:type`: a new type for a field.',
        example: ['price:double'],
      }),
    shards: integer(1, MAX_SHARDS).optional().meta({
      description: 'Number of shards that the collection gets. Default: as many as it has.',
      example: 4,
    }),
    allowMissing: flag().default(false).meta({
      description:
        'Swap even if some documents cannot be copied. Documents without a picture to fetch are copied without outputs.',
    }),
    outputsFrom: text().optional().meta({
      description:
        'Another collection. A document without valid outputs takes the outputs and the thumbnail of the document with the same id there.',
      example: 'my-pictures',
    }),
    ...COMMON_PARAMETERS,
  }),
  bodies: { 'application/json': z.object({ field: z.array(z.string()).optional() }) },
  response: responseOf(REINDEX.shape),
  statuses: { 202: 'The reindex is running.' },
});
