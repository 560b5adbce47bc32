import { z } from 'zod';
import { COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';

const MODEL = z
  .object({
    name: z.string().meta({
      description: 'Its word, or the name of its folder: what `model` in other requests means.',
      example: 'dinov2-small',
    }),
    licence: z.string().nullable().meta({ description: 'Null for a folder of your own.' }),
    megabytes: z.number().nullable().meta({ description: 'Size of the download.' }),
    numbers: z.int().meta({ description: 'Length of a descriptor.' }),
    words: z.boolean().meta({ description: 'Whether it finds pictures by words.' }),
    about: z.string().meta({ description: 'What it is good for.' }),
    here: z.boolean().meta({ description: 'Whether this process can use it.' }),
    isDefault: z.boolean().meta({ description: 'Whether new collections get it.' }),
    download: z
      .object({ state: z.enum(['running', 'failed']), bytes: z.int(), msg: z.string().optional() })
      .optional()
      .meta({ description: 'A download in progress, or why the last one failed.' }),
  })
  .meta({ id: 'Model' });

export type ModelSummary = z.infer<typeof MODEL>;

export const models = endpoint({
  methods: ['GET'],
  scope: 'search',
  // Models belong to no collection.
  filtersCollections: true,
  mount: 'service',
  path: '/api/models',
  summary: 'List the content models that akin knows or has, with downloads in progress.',
  parameters: z.object(COMMON_PARAMETERS),
  response: responseOf({
    models: z.array(MODEL),
    refusal: z.string().optional().meta({ description: 'Why this akin downloads no models, if it does not.' }),
  }),
});

/** The parameters of requests about one model. */
const MODEL_PARAMETERS = z.object({
  model: text().meta({ description: 'Name of a model that akin knows.', example: 'dinov2-small-q8' }),
  ...COMMON_PARAMETERS,
});

export const pullModel = endpoint({
  methods: ['POST'],
  scope: 'admin',
  mount: 'service',
  path: '/api/models/{model}/pull',
  summary: 'Download a content model to the machine of akin.',
  description:
    'The response comes at once; `GET /api/models` shows the progress, or why the download failed. A repeated request continues a failed or stopped download. 409 if this akin downloads no models: in a fleet, or with `--mirror off`.',
  parameters: MODEL_PARAMETERS,
  bodies: { 'application/json': z.object({}) },
  response: responseOf({}),
  statuses: { 202: 'The download is running.' },
});

export const stopPull = endpoint({
  methods: ['DELETE'],
  scope: 'admin',
  mount: 'service',
  path: '/api/models/{model}/pull',
  summary: 'Stop the download of a content model. Complete files are kept.',
  parameters: MODEL_PARAMETERS,
  response: responseOf({}),
});
