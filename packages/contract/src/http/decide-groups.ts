import { z } from 'zod';
import { COLLECTION_PARAMETER, COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice, text } from '../parameter.ts';

const MAX_IDS = 100;

export const decideGroups = endpoint({
  methods: ['POST'],
  scope: 'index',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/groups/decisions',
  summary: 'Decide that documents do not belong to one group of near-duplicates, or withdraw that decision.',
  description:
    'No two of these documents are in one group. If two are near the same representative, the farther one leaves the group. Decisions survive a reindex and are removed with the document.',
  changesData: true,
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    ids: z
      .array(text())
      .min(2, `must be 2 to ${MAX_IDS} ids`)
      .max(MAX_IDS, `must be 2 to ${MAX_IDS} ids`)
      .meta({ description: 'Ids of documents.', example: ['a.jpg', 'b.jpg'] }),
    decision: choice(['different', 'null']).meta({ description: '`null` withdraws the decision.' }),
    ...COMMON_PARAMETERS,
  }),
  bodies: {
    'application/json': z.object({
      ids: z.array(z.string()).min(2).max(MAX_IDS),
      decision: z.literal('different').nullable(),
    }),
  },
  jsonParameters: ['decision'],
  response: responseOf({ ids: z.array(z.string()), decision: z.literal('different').nullable() }),
});
