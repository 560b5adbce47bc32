import { responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { MODEL_PARAMETERS } from './pull-model.ts';

export const stopPull = endpoint({
  methods: ['DELETE'],
  scope: 'admin',
  mount: 'service',
  path: '/api/models/{model}/pull',
  summary: 'Stop the download of a content model. Complete files are kept.',
  parameters: MODEL_PARAMETERS,
  response: responseOf({}),
});
