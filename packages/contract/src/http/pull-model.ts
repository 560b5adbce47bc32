import { z } from 'zod';
import { COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';

/** The parameters of requests about one model. */
export const MODEL_PARAMETERS = z.object({
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
  changesData: true,
  parameters: MODEL_PARAMETERS,
  bodies: { 'application/json': z.object({}) },
  response: responseOf({}),
  statuses: { 202: 'The download is running.' },
});
