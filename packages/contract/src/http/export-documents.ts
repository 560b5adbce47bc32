import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text, whole } from '../parameter.ts';
import { SEARCH_PARAMETERS } from '../search.ts';

const { q, fq, df, 'q.op': operator, pt, d, sfield, NOW, TZ } = SEARCH_PARAMETERS.shape;
const { indent: _, omitHeader: __, echoParams: ___, wt: ____, ...common } = COMMON_PARAMETERS;

export const exportDocuments = endpoint({
  methods: ['GET', 'POST'],
  scope: 'index',
  under: 'collections',
  path: '/{collection}/export',
  summary: 'Documents with all that is needed to store them again: fields, outputs as `import`, thumbnails.',
  description:
    'A page of NDJSON: one document a line, as `/update` takes it. The first page begins with a line `{"akin-export":…}` that tells the types of the fields. The header `x-akin-cursor` leads to the next page and is missing on the last one. All pages are from one commit, which `x-akin-commit` tells, as long as each is asked for within ten minutes of the one before.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    q,
    fq,
    df,
    'q.op': operator,
    pt,
    d,
    sfield,
    NOW,
    TZ,
    rows: whole(1, 10_000).default(1_000).meta({
      description: 'Most documents of the page. It ends earlier when it has some 4 MB.',
    }),
    cursor: text().optional().meta({ description: 'The header `x-akin-cursor` of the page before.' }),
    ...common,
  }),
  answer: 'application/x-ndjson',
});
