import { endpoint } from '../endpoint.ts';
import { JSON_BODIES, UPDATE_PARAMETERS, UPDATE_RESPONSE, UPDATE_STATUSES, XML_CHANGES } from '../update.ts';

export const update = endpoint({
  methods: ['GET', 'POST'],
  scope: 'index',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/update',
  summary: 'Add, replace and delete documents, and commit.',
  description:
    'All or nothing: akin checks every document before it accepts any. Changes become visible with a commit: every 15 seconds, or at once with `commit=true`. A GET takes commit parameters only.',
  changesData: true,
  parameters: UPDATE_PARAMETERS,
  bodies: { ...JSON_BODIES, 'application/xml': XML_CHANGES },
  streamsBody: true,
  response: UPDATE_RESPONSE,
  statuses: UPDATE_STATUSES,
});
