import { MAX_SHARDS } from '@akin/domain';
import { z } from 'zod';
import { collectionParameters, ERROR_DETAIL, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { flag, integer, text, texts } from '../parameter.ts';

/** Progress of a reindex. */
const REINDEX = z
  .object({
    state: z.enum(['copying', 'analyzing', 'switching', 'paused', 'done', 'failed']),
    alive: z.boolean().meta({
      description: 'Whether a process is working on it. If its process ended, another one continues soon.',
    }),
    beganAt: z.string(),
    model: z.string().optional().meta({ description: 'The name of the new content model.' }),
    documents: z.int().meta({ description: 'Documents to copy.' }),
    copied: z
      .int()
      .meta({ description: 'Documents that were copied. A document that changed during the reindex counts again.' }),
    analyzed: z.int().meta({ description: 'Documents whose pictures are analyzed again.' }),
    thumbnails: z.int().meta({
      description:
        'Documents that were analyzed from their thumbnails, because nothing else was available. Their descriptors are less exact.',
    }),
    pending: z.int().meta({ description: 'Copies that wait for their analysis or for a commit.' }),
    message: z.string().optional().meta({ description: 'What went wrong.' }),
    missing: z.array(ERROR_DETAIL).meta({ description: 'Documents that cannot be copied, the first 1,000.' }),
  })
  .meta({ id: 'Reindex' });

export const reindexStatus = endpoint({
  scope: 'index',
  methods: ['GET'],
  path: '/{collection}/reindex',
  summary: 'Progress of the reindex of a collection, or how the last one ended.',
  parameters: collectionParameters({}),
  response: responseOf(REINDEX.shape),
});

export const reindex = endpoint({
  scope: 'admin',
  methods: ['POST'],
  path: '/{collection}/reindex',
  summary: 'Build a new version of a collection in the background, and swap the two in one step.',
  description:
    'The response is 202 at once. A GET of the same path shows the progress. Searches and changes continue meanwhile. During the swap, changes are answered with 503 and Retry-After. akin copies outputs of the right model. Other documents take the outputs of another collection (`outputsFrom`), or their pictures are analyzed again: from their URLs, from the folder if this akin indexed it, else from their thumbnails, whose number the progress shows. The optional module `parts`, where it is on, also analyzes the pictures of documents without its output. The old model answers until the swap. If any document cannot be copied, nothing is swapped. If the process ends, another one continues. Meanwhile another reindex of the collection gets 409.',
  parameters: collectionParameters({
    model: text().optional().meta({
      description:
        'The name of the content model that the collection gets (`akin models` lists them); `akin` for akin’s own. Default: the one that was chosen for the collection, else that of `--content-model`.',
      example: 'dinov2-small',
    }),
    field: texts().meta({
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
  }),
  bodies: { 'application/json': z.object({ field: z.array(z.string()).optional() }) },
  response: responseOf(REINDEX.shape),
  statuses: { 202: 'The reindex is running.' },
});

export const pauseReindex = endpoint({
  scope: 'admin',
  methods: ['POST'],
  path: '/{collection}/reindex/pause',
  summary: 'Pause the reindex of a collection.',
  description:
    'Analyses in progress are finished. Copied documents are kept. To abandon a paused reindex, drop the collection `<name>.reindex`. 409 if no reindex runs, or if it is about to swap.',
  parameters: collectionParameters({}),
  bodies: { 'application/json': z.object({}) },
  response: responseOf(REINDEX.shape),
});

export const resumeReindex = endpoint({
  scope: 'admin',
  methods: ['POST'],
  path: '/{collection}/reindex/resume',
  summary: 'Continue a paused reindex.',
  description: 'This gateway continues where the reindex stopped. 409 if it is not paused.',
  parameters: collectionParameters({}),
  bodies: { 'application/json': z.object({}) },
  response: responseOf(REINDEX.shape),
  statuses: { 202: 'The reindex continues.' },
});
