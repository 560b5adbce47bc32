import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { integer, text } from '../parameter.ts';
import { QUERY_PARAMETERS, SEARCH_PARAMETERS } from '../search.ts';

const { q, fq, 'q.op': operator } = SEARCH_PARAMETERS.shape;
const { df, ...others } = QUERY_PARAMETERS;
const { indent: _, omitHeader: __, echoParams: ___, wt: ____, ...common } = COMMON_PARAMETERS;

export const exportDocuments = endpoint({
  methods: ['GET', 'POST'],
  scope: 'index',
  obeysKeyFilter: true,
  path: '/{collection}/export',
  summary: 'Export documents with all that is needed to store them again: fields, outputs as `import`, thumbnails.',
  description:
    'The response is a page of NDJSON: one document per line, as `/update` accepts it. The first page begins with a line `{"akin-export":…}`, which contains the types of the fields. The header `x-akin-cursor` leads to the next page and is missing on the last one. All pages are from one commit, if each is requested within ten minutes of the previous one. `x-akin-commit` contains the number of the commit.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    q,
    fq,
    df,
    'q.op': operator,
    ...others,
    rows: integer(1, 10_000).default(1_000).meta({
      description: 'Maximum number of documents on the page. A page ends earlier at about 4 MB.',
    }),
    cursor: text().optional().meta({ description: 'The header `x-akin-cursor` of the previous page.' }),
    ...common,
  }),
  response: 'application/x-ndjson',
});
