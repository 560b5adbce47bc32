import { endpoint } from '../endpoint.ts';
import { UPDATE_ANSWER, UPDATE_PARAMETERS, UPDATE_STATUSES, XML_CHANGES } from '../update.ts';

export const updateXml = endpoint({
  methods: ['GET', 'POST'],
  scope: 'index',
  under: 'collections',
  path: '/{collection}/update/xml',
  summary: 'The update for XML alone, as old clients address it.',
  description: 'The same as `/update`.',
  changes: true,
  parameters: UPDATE_PARAMETERS,
  bodies: { 'application/xml': XML_CHANGES },
  streamed: true,
  answer: UPDATE_ANSWER,
  statuses: UPDATE_STATUSES,
});
