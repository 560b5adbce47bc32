import { z } from 'zod';
import { AFTER_PARAMETERS, collectionParameters, DOCUMENT, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { texts } from '../parameter.ts';

export const get = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  path: '/{collection}/get',
  summary: 'Get documents by id, as of the last commit.',
  description:
    'For one `id` the response has `doc`, which is null if there is no such document. For several ids, or for `ids`, it has a list of the existing documents, in the order of the ids. Unlike Solr, akin does not show changes before their commit, except `_version_` if `fl` names it: that is the last accepted version. To see a change, send `commit=true` with the update, or its token in `after`.',
  parameters: collectionParameters({
    id: texts().meta({ description: 'A whole id. It may contain commas.' }),
    ids: texts().meta({ description: 'Ids, separated by commas.' }),
    fl: texts().meta({ description: 'Fields to return, as for a search.' }),
    ...AFTER_PARAMETERS,
  }),
  response: responseOf({
    doc: DOCUMENT.nullable().optional(),
    response: z
      .object({ numFound: z.int(), start: z.int(), numFoundExact: z.boolean(), docs: z.array(DOCUMENT) })
      .optional(),
  }),
});
