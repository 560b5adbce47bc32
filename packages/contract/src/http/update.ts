import { endpoint } from '../endpoint.ts';
import { DOCUMENTS, JSON_BODIES, UPDATE_PARAMETERS, UPDATE_RESPONSE, UPDATE_STATUSES, XML_CHANGES } from '../update.ts';

const UPDATE = {
  methods: ['GET', 'POST'],
  scope: 'index',
  obeysKeyFilter: true,
  changesData: true,
  parameters: UPDATE_PARAMETERS,
  streamsBody: true,
  response: UPDATE_RESPONSE,
  statuses: UPDATE_STATUSES,
} as const;

export const update = endpoint({
  ...UPDATE,
  path: '/{collection}/update',
  summary: 'Add, replace and delete documents, and commit.',
  description:
    'All or nothing: akin checks every document before it accepts any. Changes become visible with a commit: every 15 seconds, or at once with `commit=true`. A GET takes commit parameters only.',
  bodies: { ...JSON_BODIES, 'application/xml': XML_CHANGES },
});

export const updateJson = endpoint({
  ...UPDATE,
  path: '/{collection}/update/json',
  summary: 'Update with JSON only, at the path that old clients use.',
  description: 'The same as `/update`.',
  bodies: JSON_BODIES,
});

export const updateJsonDocs = endpoint({
  ...UPDATE,
  path: '/{collection}/update/json/docs',
  summary: 'Add documents only.',
  description: 'Below both prefixes, a single object is a document, never commands.',
  bodies: { ...JSON_BODIES, 'application/json': DOCUMENTS },
});

export const updateXml = endpoint({
  ...UPDATE,
  path: '/{collection}/update/xml',
  summary: 'Update with XML only, at the path that old clients use.',
  description: 'The same as `/update`.',
  bodies: { 'application/xml': XML_CHANGES },
});
