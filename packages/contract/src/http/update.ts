import { endpoint } from '../endpoint.ts';
import { CHANGES, UPDATE_ANSWER, UPDATE_PARAMETERS, UPDATE_STATUSES, XML_CHANGES } from '../update.ts';

export const update = endpoint({
  methods: ['GET', 'POST'],
  scope: 'index',
  under: 'collections',
  path: '/{collection}/update',
  summary: 'Add, replace and delete documents; commit.',
  description:
    'All or nothing: every document is checked before any is accepted. Changes are visible after a commit: every 15 seconds, or at once with `commit=true`. A GET takes commit parameters only.',
  changes: true,
  parameters: UPDATE_PARAMETERS,
  bodies: { 'application/json': CHANGES, 'application/xml': XML_CHANGES },
  streamed: true,
  answer: UPDATE_ANSWER,
  statuses: UPDATE_STATUSES,
});
