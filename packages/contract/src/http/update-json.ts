import { endpoint } from '../endpoint.ts';
import { JSON_BODIES, UPDATE_PARAMETERS, UPDATE_RESPONSE, UPDATE_STATUSES } from '../update.ts';

export const updateJson = endpoint({
  methods: ['GET', 'POST'],
  scope: 'index',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/update/json',
  summary: 'Update with JSON only, at the path that old clients use.',
  description: 'The same as `/update`.',
  changesData: true,
  parameters: UPDATE_PARAMETERS,
  bodies: JSON_BODIES,
  streamsBody: true,
  response: UPDATE_RESPONSE,
  statuses: UPDATE_STATUSES,
});
