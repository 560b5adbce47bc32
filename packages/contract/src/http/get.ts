import { z } from 'zod';
import { AFTER_PARAMETERS, answer, COLLECTION_PARAMETER, COMMON_PARAMETERS, DOCUMENT } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text, whole } from '../parameter.ts';
import { MAX_AFTER_TIMEOUT } from '../search.ts';

export const get = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  under: 'collections',
  path: '/{collection}/get',
  summary: 'Documents by their ids, as of the last commit.',
  description:
    'One `id` answers `doc`, which is null when there is none; several, or `ids`, answer a list of those that there are, in the order of the ids. Solr shows changes before their commit here, akin does not: `commit=true` in the update, or `after` with its token, makes sure.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    id: z.array(text()).default([]).meta({ description: 'An id, as it is.' }),
    ids: z.array(text()).default([]).meta({ description: 'Ids by comma.' }),
    fl: z.array(text()).default([]).meta({ description: 'Fields to return, as for a search.' }),
    ...AFTER_PARAMETERS,
    afterTimeout: whole(0, MAX_AFTER_TIMEOUT).default(30_000).meta({ description: 'As for a search.' }),
    ...COMMON_PARAMETERS,
  }),
  answer: answer({
    doc: DOCUMENT.nullable().optional(),
    response: z
      .object({ numFound: z.int(), start: z.int(), numFoundExact: z.boolean(), docs: z.array(DOCUMENT) })
      .optional(),
  }),
});
