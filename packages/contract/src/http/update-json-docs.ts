import { endpoint } from '../endpoint.ts';
import { DOCUMENTS, JSON_BODIES, UPDATE_PARAMETERS, UPDATE_RESPONSE, UPDATE_STATUSES } from '../update.ts';

export const updateJsonDocs = endpoint({
  methods: ['GET', 'POST'],
  scope: 'index',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/update/json/docs',
  summary: 'Add documents only.',
  description: 'Below both prefixes, a single object is a document, never commands.',
  changesData: true,
  parameters: UPDATE_PARAMETERS,
  bodies: { ...JSON_BODIES, 'application/json': DOCUMENTS },
  streamsBody: true,
  response: UPDATE_RESPONSE,
  statuses: UPDATE_STATUSES,
});
