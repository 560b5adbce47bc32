import { z } from 'zod';
import { AFTER_PARAMETERS, answer, COLLECTION_PARAMETER, COMMON_PARAMETERS, DOCUMENT } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text, whole } from '../parameter.ts';
import { MAX_AFTER_TIMEOUT, SEARCH_PARAMETERS } from '../search.ts';

const { fq, fl, df, pt, d, sfield, NOW, TZ } = SEARCH_PARAMETERS.shape;

/** Most groups of a page, and most members of each that are listed. */
const MAX_GROUPS = 100;
const MAX_MEMBERS = 100;

const GROUP = z
  .object({
    id: z.string().meta({ description: 'The id of its representative, by which groups are ordered.' }),
    representative: z.string().meta({ description: 'Id of the document that every member is near to.' }),
    size: z.int().meta({ description: 'Members that match, those beyond `group.limit` included.' }),
    members: z.array(DOCUMENT).meta({
      description: 'The representative first, then by falling `score` with it. As many as `group.limit` says.',
    }),
    pairs: z
      .array(z.object({ ids: z.tuple([z.string(), z.string()]), score: z.number() }))
      .meta({ description: 'What holds the group together: the representative, a member, and their score.' }),
  })
  .meta({ id: 'Group' });

export const groups = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  under: 'collections',
  path: '/{collection}/groups',
  summary: 'Groups of near-duplicates of the whole collection.',
  description:
    'Maintained in the background: `asOfCommit` is the commit up to which they are right. Every member scores at least `threshold` with the representative of its group. 409 in a collection with descriptors of another model that keeps no calibration; `error.msg` says what to do.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    fq: fq.meta({
      description: 'Only members that match all of these; a group with fewer than two of them is left out.',
      example: ['category:shoe'],
    }),
    fl,
    rows: whole(0, MAX_GROUPS).default(20).meta({ description: 'Groups of the page; also `limit`.' }),
    limit: whole(0, MAX_GROUPS).optional().meta({ description: 'The same as `rows`.' }),
    'group.limit': whole(1, MAX_MEMBERS).default(20).meta({
      description:
        'Members of each group that are listed. All of a larger one: `/duplicate?rank.by.id=<representative>`.',
    }),
    cursor: text().optional().meta({ description: 'The `nextCursor` of the page before.' }),
    df,
    pt,
    d,
    sfield,
    NOW,
    TZ,
    ...AFTER_PARAMETERS,
    afterTimeout: whole(0, MAX_AFTER_TIMEOUT).default(30_000).meta({
      description: 'As for a search. Waits for what can be seen, not for the groups.',
    }),
    ...COMMON_PARAMETERS,
  }),
  answer: answer({
    commit: z.int().meta({ description: 'The last commit, which decides what can be seen.' }),
    asOfCommit: z.int().meta({
      description:
        'The commit up to which the groups are right. Documents that came since are in none yet; those that left are in none any more.',
    }),
    threshold: z.number().meta({ description: 'Least score of a member with its representative.' }),
    numFound: z.int().meta({ description: 'Groups that match.' }),
    numFoundExact: z.boolean().meta({ description: 'False while the groups are behind the last commit.' }),
    groups: z.array(GROUP),
    nextCursor: z.string().optional().meta({ description: 'There are more: `cursor` for the next page.' }),
  }),
});
