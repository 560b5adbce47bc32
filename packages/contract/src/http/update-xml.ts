import { endpoint } from '../endpoint.ts';
import { UPDATE_PARAMETERS, UPDATE_RESPONSE, UPDATE_STATUSES, XML_CHANGES } from '../update.ts';

export const updateXml = endpoint({
  methods: ['GET', 'POST'],
  scope: 'index',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/update/xml',
  summary: 'Update with XML only, at the path that old clients use.',
  description: 'The same as `/update`.',
  changesData: true,
  parameters: UPDATE_PARAMETERS,
  bodies: { 'application/xml': XML_CHANGES },
  streamsBody: true,
  response: UPDATE_RESPONSE,
  statuses: UPDATE_STATUSES,
});
