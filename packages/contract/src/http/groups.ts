import { z } from 'zod';
import { AFTER_PARAMETERS, afterTimeout, collectionParameters, DOCUMENT, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice, integer, text } from '../parameter.ts';
import { QUERY_PARAMETERS, SEARCH_PARAMETERS } from '../search.ts';

const { fq, fl } = SEARCH_PARAMETERS.shape;

/** Maximum number of groups on a page, and of members that are listed for each. */
const MAX_GROUPS = 100;
const MAX_MEMBERS = 100;

const GROUP = z
  .object({
    id: z.string().meta({ description: 'Id of the representative. Groups are ordered by it.' }),
    representative: z.string().meta({ description: 'Id of the document that every member is similar to.' }),
    size: z.int().meta({
      description:
        'Number of members that match, including those beyond `group.limit`. Documents that name one file (`source` and `path`) count once.',
    }),
    members: z.array(DOCUMENT).meta({
      description: 'The representative, then the members with the highest `score` first. At most `group.limit`.',
    }),
    pairs: z
      .array(z.object({ ids: z.tuple([z.string(), z.string()]), score: z.number() }))
      .meta({ description: 'The pairs behind the group: the representative, a member, and their score.' }),
  })
  .meta({ id: 'Group' });

const PART_PAIR = z
  .object({
    part: DOCUMENT.meta({ description: 'The document of whose picture more is in common.' }),
    whole: DOCUMENT,
    copy: z.boolean().meta({
      description: 'Whether at least 70 % of both pictures is in common: turned, mirrored or captioned copies.',
    }),
    score: z.number(),
    parts_box: z
      .object({
        whole: z.array(z.number()).length(4),
        part: z.array(z.number()).length(4),
        turn: z
          .number()
          .meta({ description: 'Degrees by which the part is turned in the whole, after it was mirrored.' }),
        scale: z.number().meta({ description: 'How large the part is in the whole. 1: as long as the whole.' }),
        mirrored: z.boolean(),
      })
      .meta({ description: 'What is in common: x, y, width and height in fractions of each picture.' }),
  })
  .meta({ id: 'PartPair' });

export const groups = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  path: '/{collection}/groups',
  summary: 'List the groups of near-duplicates in a collection.',
  description:
    'akin updates the groups in the background. They are current up to the commit `asOfCommit`. Every member has a score of at least `threshold` with the representative of its group. If the collection has descriptors of another model and no calibration of that model, the response is 409, and `error.msg` says what to do.',
  parameters: collectionParameters({
    kind: choice(['duplicates', 'parts']).default('duplicates').meta({
      description:
        '`parts` lists the pairs of pictures that have a part in common, in `pairs` in place of `groups`, without those of one group of near-duplicates and those that were decided to be different. It needs the module `parts`.',
    }),
    fq: fq.meta({
      description:
        'Only members that match all of these filters. A group with fewer than two such members is left out.',
      example: ['category:shoe'],
    }),
    fl,
    rows: integer(0, MAX_GROUPS)
      .default(20)
      .meta({ description: 'Number of groups on the page. `limit` means the same.' }),
    limit: integer(0, MAX_GROUPS).optional().meta({ description: 'The same as `rows`.' }),
    'group.limit': integer(1, MAX_MEMBERS).default(20).meta({
      description:
        'Maximum number of members listed per group. To list more members of one group, send `group.id` with `group.offset`.',
    }),
    'group.offset': integer(0, 1_000_000_000).default(0).meta({
      description: 'Number of members to skip in each group.',
    }),
    'group.id': text().optional().meta({
      description: 'Only the group with this id. Page through its members with `group.offset` and `group.limit`.',
    }),
    cursor: text().optional().meta({ description: 'The `nextCursor` of the previous page.' }),
    ...QUERY_PARAMETERS,
    ...AFTER_PARAMETERS,
    afterTimeout: afterTimeout(
      'As for a search. It waits until documents are visible, not until the groups are current.',
    ),
  }),
  response: responseOf({
    commit: z.int().meta({ description: 'The last commit. It decides which documents are visible.' }),
    asOfCommit: z.int().meta({
      description:
        'The commit up to which the groups are current. Newer documents are not in a group yet. Deleted documents are in no group.',
    }),
    threshold: z.number().meta({ description: 'Minimum score between a member and its representative.' }),
    numFound: z.int().meta({ description: 'Number of groups that match.' }),
    numFoundExact: z.boolean().meta({ description: 'False while the groups are older than the last commit.' }),
    groups: z.array(GROUP).optional().meta({ description: 'Missing with `kind=parts`.' }),
    pairs: z
      .array(PART_PAIR)
      .optional()
      .meta({ description: 'With `kind=parts`: ordered by the ids of the whole and of the part.' }),
    nextCursor: z.string().optional().meta({ description: 'The `cursor` of the next page. Missing on the last page.' }),
  }),
});

export const groupDecisions = endpoint({
  methods: ['GET'],
  scope: 'index',
  obeysKeyFilter: true,
  path: '/{collection}/groups/decisions',
  summary: 'List the pairs of documents that may not be in one group, ordered by id.',
  parameters: collectionParameters({
    rows: integer(1, 1_000).default(100).meta({ description: 'Maximum number of decisions on the page.' }),
    cursor: text().optional().meta({ description: 'The `nextCursor` of the previous page.' }),
  }),
  response: responseOf({
    decisions: z.array(z.object({ ids: z.tuple([z.string(), z.string()]), decision: z.literal('different') })),
    nextCursor: z.string().optional(),
  }),
});

const MAX_IDS = 100;

export const decideGroups = endpoint({
  methods: ['POST'],
  scope: 'index',
  obeysKeyFilter: true,
  path: '/{collection}/groups/decisions',
  summary: 'Decide that documents do not belong to one group of near-duplicates, or withdraw that decision.',
  description:
    'No two of these documents are in one group. If two are near the same representative, the farther one leaves the group. Decisions survive a reindex and are removed with the document.',
  parameters: collectionParameters({
    ids: z
      .array(text())
      .min(2, `must be 2 to ${MAX_IDS} ids`)
      .max(MAX_IDS, `must be 2 to ${MAX_IDS} ids`)
      .meta({ description: 'Ids of documents.', example: ['a.jpg', 'b.jpg'] }),
    decision: choice(['different', 'null']).meta({ description: '`null` withdraws the decision.' }),
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
