import { z } from 'zod';
import { AFTER_PARAMETERS, collectionParameters, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { decimal, integer, text } from '../parameter.ts';
import { QUERY_PARAMETERS, SEARCH_PARAMETERS } from '../search.ts';

const { fq } = SEARCH_PARAMETERS.shape;

const TAG = z
  .object({
    tag: z.string(),
    confidence: z
      .number()
      .meta({ description: 'From 0 to 1: its share of the votes, multiplied by the score of its best voter.' }),
    voters: z
      .array(z.object({ id: z.string(), score: z.number() }))
      .meta({ description: 'The documents with this tag and their scores, most similar first.' }),
  })
  .meta({ id: 'Tag' });

export const tag = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  path: '/{collection}/tag',
  summary: 'Suggest labels for a picture, from the most similar documents.',
  description:
    'The 20 most similar documents with a value in `tagging.field` vote for their values. The weight of a vote is the square of the score. The document in `tagging.input.id` does not vote. If the collection has descriptors of another model, the response to any other picture is 409; without a calibration of that model, the response to a document is too. `error.msg` says what to do.',
  parameters: collectionParameters({
    'tagging.input.id': text().optional().meta({ description: 'A stored document.', example: 'demo-006' }),
    'tagging.input.url': text().optional().meta({ description: 'URL of a picture.' }),
    'tagging.input.data': text().optional().meta({ description: 'Base64 or data URI of a picture.' }),
    'tagging.input.region': text().optional().meta({ description: 'As `rank.region` of a search.' }),
    'tagging.input.preprocessed': text().optional().meta({ description: 'The `outputs` of an analysis.' }),
    'tagging.field': text()
      .default('labels')
      .meta({ description: 'Field with the labels. Its type is String, or a list of String.' }),
    'tagging.max': integer(1, 1000).default(10).meta({ description: 'Maximum number of labels.' }),
    'tagging.threshold': decimal(0, 1).default(0).meta({ description: 'Minimum confidence of a label.' }),
    'tagging.analyzer': text()
      .optional()
      .meta({ description: 'Accepted and ignored: values are always whole labels.' }),
    fq: fq.meta({ description: 'Only documents that match all of these filters vote.', example: ['category:shoe'] }),
    ...QUERY_PARAMETERS,
    ...AFTER_PARAMETERS,
  }),
  pictureParameter: 'tagging.input.data',
  response: responseOf({
    tags: z.array(TAG).meta({ description: 'Highest confidence first.' }),
    voters: z.int().meta({ description: 'Number of documents that voted.' }),
  }),
});
