import { z } from 'zod';
import { AFTER_PARAMETERS, COLLECTION_PARAMETER, COMMON_PARAMETERS, DOCUMENT, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { integer, text } from '../parameter.ts';
import { MAX_AFTER_TIMEOUT } from '../search.ts';

export const get = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/get',
  summary: 'Get documents by id, as of the last commit.',
  description:
    'For one `id` the response has `doc`, which is null if there is no such document. For several ids, or for `ids`, it has a list of the existing documents, in the order of the ids. Unlike Solr, akin does not show changes before their commit, except `_version_` if `fl` names it: that is the last accepted version. To see a change, send `commit=true` with the update, or its token in `after`.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    id: z.array(text()).default([]).meta({ description: 'A whole id. It may contain commas.' }),
    ids: z.array(text()).default([]).meta({ description: 'Ids, separated by commas.' }),
    fl: z.array(text()).default([]).meta({ description: 'Fields to return, as for a search.' }),
    ...AFTER_PARAMETERS,
    afterTimeout: integer(0, MAX_AFTER_TIMEOUT).default(30_000).meta({ description: 'As for a search.' }),
    ...COMMON_PARAMETERS,
  }),
  response: responseOf({
    doc: DOCUMENT.nullable().optional(),
    response: z
      .object({ numFound: z.int(), start: z.int(), numFoundExact: z.boolean(), docs: z.array(DOCUMENT) })
      .optional(),
  }),
});
