import { z } from 'zod';
import { AFTER_PARAMETERS, answer, COLLECTION_PARAMETER, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { decimal, text, whole } from '../parameter.ts';
import { MAX_AFTER_TIMEOUT, SEARCH_PARAMETERS } from '../search.ts';

const { fq, df, pt, d, sfield, NOW, TZ } = SEARCH_PARAMETERS.shape;

const TAG = z
  .object({
    tag: z.string(),
    confidence: z.number().meta({ description: '0 to 1: the share of the votes, times the score of its best voter.' }),
    voters: z
      .array(z.object({ id: z.string(), score: z.number() }))
      .meta({ description: 'The documents that have it, most alike first, with their scores.' }),
  })
  .meta({ id: 'Tag' });

export const tag = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  under: 'collections',
  path: '/{collection}/tag',
  summary: 'Labels for a picture, voted by the documents that look most like it.',
  description:
    'The 20 documents that show most of the like and have a value in `tagging.field` vote for their values, each with the square of its score. A document that is asked about has no vote. In a collection with descriptors of another model, 409 for any other picture, and for documents too where it keeps no calibration; `error.msg` says what to do.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    'tagging.input.id': text().optional().meta({ description: 'A stored document.', example: 'demo-006' }),
    'tagging.input.url': text().optional().meta({ description: 'Address of a picture.' }),
    'tagging.input.data': text().optional().meta({ description: 'Base64 or data URI of a picture.' }),
    'tagging.input.preprocessed': text().optional().meta({ description: 'The `outputs` of an analysis.' }),
    'tagging.field': text().default('labels').meta({ description: 'Field whose values are voted for: a String.' }),
    'tagging.max': whole(1, 1000).default(10).meta({ description: 'Most labels.' }),
    'tagging.threshold': decimal(0, 1).default(0).meta({ description: 'Least confidence of a label.' }),
    'tagging.analyzer': text().optional().meta({ description: 'Accepted; values are taken whole.' }),
    fq: fq.meta({ description: 'Only documents that match all of these vote.', example: ['category:shoe'] }),
    df,
    pt,
    d,
    sfield,
    NOW,
    TZ,
    ...AFTER_PARAMETERS,
    afterTimeout: whole(0, MAX_AFTER_TIMEOUT).default(30_000).meta({ description: 'As for a search.' }),
    ...COMMON_PARAMETERS,
  }),
  answer: answer({
    tags: z.array(TAG).meta({ description: 'By falling confidence.' }),
    voters: z.int().meta({ description: 'How many documents voted, for whatever.' }),
  }),
});
