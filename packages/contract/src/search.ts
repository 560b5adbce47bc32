import { isTimeZone } from '@akin/domain';
import { z } from 'zod';
import { AFTER_PARAMETERS, answer, COLLECTION_PARAMETER, COMMON_PARAMETERS, DOCUMENT } from './common.ts';
import { choice, decimal, flag, limit, text, whole } from './parameter.ts';

/** Most documents of one page. */
export const MAX_ROWS = 1000;
/** Deepest place that `start` and `rows` reach together. */
export const MAX_DEPTH = 10_000;
/** Longest wait for the operations of an `after` token, in milliseconds. */
export const MAX_AFTER_TIMEOUT = 300_000;

const INCLUDES = ['lower', 'upper', 'edge', 'outer', 'all'] as const;
const OTHERS = ['before', 'after', 'between', 'all', 'none'] as const;

/** How facets are counted: each for all facets, or as `f.<field>.<name>` for those of one field. */
export const FACET_SETTINGS = z.object({
  'facet.limit': limit().default(100).meta({
    description:
      'Values of each field to return; negative for all. Also `f.<field>.facet.limit`, as for every setting.',
  }),
  'facet.offset': whole(0).default(0).meta({ description: 'Values to pass over.' }),
  'facet.mincount': whole(0).default(0).meta({
    description: 'Least count. 0 lists values of Strings and Booleans too that no match has.',
  }),
  'facet.sort': choice(['count', 'index', 'true', 'false']).optional().meta({
    description: 'By falling `count`, the default, or by value (`index`), the default where all are asked for.',
  }),
  'facet.prefix': text().optional().meta({ description: 'Only values that begin so.' }),
  'facet.contains': text().optional().meta({ description: 'Only values that hold this text.' }),
  'facet.contains.ignoreCase': flag().default(false).meta({ description: 'Capital or small letters alike.' }),
  'facet.excludeTerms': text().optional().meta({ description: 'Values to leave out, by comma.' }),
  'facet.missing': flag().default(false).meta({ description: 'Count the documents without a value, as a last entry.' }),
  'facet.range.start': text().optional().meta({ description: 'Beginning of the first range.' }),
  'facet.range.end': text().optional().meta({ description: 'End of the last range.' }),
  'facet.range.gap': text().optional().meta({ description: 'Width of a range; for dates such as `+1MONTH`.' }),
  'facet.range.hardend': flag().default(false).meta({ description: 'Whether the last range ends at `end` exactly.' }),
  'facet.range.include': z.array(choice(INCLUDES)).default([]).meta({
    description: 'Which bounds belong to a range. Default `lower`.',
  }),
  'facet.range.other': z.array(choice(OTHERS)).default([]).meta({
    description: 'Counts of what is `before`, `after` or `between` all ranges.',
  }),
});

export type FacetSettings = z.output<typeof FACET_SETTINGS>;

/** What a search of any endpoint takes. */
export const SEARCH_PARAMETERS = z.object({
  collection: COLLECTION_PARAMETER,
  q: text()
    .default('*:*')
    .meta({ description: 'The query. With `rank.by.*` it only filters.', example: 'labels:shoe' }),
  fq: z
    .array(text())
    .default([])
    .meta({
      description: 'Filter queries, all of which must match: `-id:7`, `price:[10 TO *]`.',
      example: ['price:[10 TO *]'],
    }),
  sort: text().optional().meta({ description: 'Such as `price asc, geodist() asc, id asc`. Default: falling score.' }),
  fl: z.array(text()).default([]).meta({
    description: 'Fields to return, by comma or space, with `*` in names: `id,color_*,score,cost:price,km:geodist()`.',
  }),
  start: whole(0, MAX_DEPTH, '; use cursorMark to go deeper')
    .default(0)
    .meta({ description: 'Place of the first document of the page.' }),
  rows: whole(0, MAX_ROWS, '; use cursorMark to page through more')
    .default(10)
    .meta({ description: 'Documents on the page.' }),
  df: text().optional().meta({ description: 'Field of words that name none. Default `text`.' }),
  'q.op': z
    .string()
    .transform((word) => word.toUpperCase())
    .pipe(choice(['AND', 'OR']))
    .optional()
    .meta({ description: 'How words without an operator are joined. Default OR.' }),
  pt: text().optional().meta({
    description: 'Place for `{!geofilt}`, `{!bbox}` and `geodist()`: latitude and longitude.',
    example: '48.14,11.58',
  }),
  d: text().optional().meta({ description: 'Radius for `{!geofilt}` and `{!bbox}` in kilometers.', example: '5' }),
  sfield: text().optional().meta({ description: 'Field of places. Default `location`.' }),
  cursorMark: text().optional().meta({ description: '`*`, then the `nextCursorMark` of the answer before.' }),
  NOW: whole(0, 8_640_000_000_000_000)
    .optional()
    .meta({ description: 'What NOW is in date math, in milliseconds since 1970.' }),
  TZ: text()
    .refine(isTimeZone, 'must be a time zone, such as Europe/Berlin or GMT+1 (in an address GMT%2B1)')
    .optional()
    .meta({ description: 'Time zone in which date math rounds, such as `Europe/Berlin` or `GMT+1`. Default UTC.' }),
  timeAllowed: limit().optional().meta({
    description:
      'Milliseconds after which an answer is cut; its header then says `partialResults`. 0 and less are no limit. Searches by cursorMark are never cut.',
  }),
  minExactCount: whole(0).optional().meta({
    description: 'Matches up to which `numFound` is exact; beyond it may be a lower bound. Default: always exact.',
  }),
  facet: flag().default(false).meta({ description: 'Count what matches by the `facet.*` given.' }),
  'facet.field': z
    .array(text())
    .default([])
    .meta({
      description: 'Count by the values of these fields; `{!ex=tag}field` without filters that are `{!tag=tag}…`.',
      example: ['labels'],
    }),
  'facet.query': z.array(text()).default([]).meta({ description: 'Count what matches these queries too.' }),
  'facet.range': z.array(text()).default([]).meta({
    description: 'Count by ranges of these fields, one number or date each.',
  }),
  ...FACET_SETTINGS.shape,
  'json.nl': choice(['flat', 'map', 'arrarr', 'arrmap', 'arrntv']).default('flat').meta({
    description: 'How lists of values and counts are written.',
  }),
  'rank.by.id': z.array(text()).default([]).meta({
    description:
      'Rank by similarity to this stored document. In a collection with descriptors of another model, every other `rank.by.*` gets 409, and this one too where it keeps no calibration.',
  }),
  'rank.by.url': z
    .array(text())
    .default([])
    .meta({ description: 'Rank by similarity to the picture at this address.' }),
  'rank.by.data': z.array(text()).default([]).meta({
    description: 'Rank by similarity to this picture: base64 or a data URI, best in a form body.',
  }),
  'rank.by.hex': z
    .array(text())
    .default([])
    .meta({
      description: 'Rank by colours: `0xRRGGBB` or `#RRGGBB`, several by comma, each with an optional `:weight`.',
      example: ['0xff0000:2,0xffffff'],
    }),
  'rank.by.outputs': z.array(text()).default([]).meta({ description: 'Rank by the `outputs` of an analysis.' }),
  'rank.weights': text().optional().meta({
    description: 'One number for each `rank.by.*` in their order, negative for "not like this".',
    example: '1,-0.5',
  }),
  'rank.mode': text().optional().meta({ description: 'Which likeness: `content`, `color` or `duplicate`.' }),
  'rank.threshold': decimal(0, 1).optional().meta({ description: 'Least score of a match.' }),
  'rank.approximate': flag().optional().meta({
    description:
      'False compares every match, always. Otherwise large collections (from 20,000 documents on) are ranked by their nearest cells, where more than 20,000 documents match; `responseHeader.ranking` says which it was.',
  }),
  'rank.smartfilter': choice(['off', 'low', 'medium', 'high']).optional().meta({
    description:
      'How many cells an approximate ranking visits: `off` all of them, so that it is exact, `low` (the default), `medium` and `high` ever fewer. Searches by `rank.threshold`, `cursorMark` or beyond the first 1,000 are exact.',
  }),
  ...AFTER_PARAMETERS,
  afterTimeout: whole(0, MAX_AFTER_TIMEOUT).default(30_000).meta({
    description: 'Longest wait for `after` in milliseconds; then 503.',
  }),
  ...COMMON_PARAMETERS,
});

/** What a search of any endpoint answers. */
export const SEARCH_ANSWER = answer({
  response: z.object({
    numFound: z.int().meta({ description: 'Documents that match.' }),
    start: z.int(),
    maxScore: z.number().optional().meta({ description: 'Highest score of all matches.' }),
    numFoundExact: z.boolean().meta({ description: 'False when numFound is a lower bound.' }),
    docs: z.array(DOCUMENT),
  }),
  nextCursorMark: z.string().optional(),
  facet_counts: z
    .object({
      facet_queries: z.record(z.string(), z.int()),
      facet_fields: z.record(z.string(), z.unknown()).meta({ description: 'Values and counts, as `json.nl` says.' }),
      facet_ranges: z.record(
        z.string(),
        z.object({
          counts: z.unknown(),
          gap: z.unknown(),
          before: z.int().optional(),
          after: z.int().optional(),
          between: z.int().optional(),
          start: z.unknown(),
          end: z.unknown(),
        }),
      ),
      facet_intervals: z.object({}),
      facet_heatmaps: z.object({}),
    })
    .optional(),
});

/** A search may come as JSON too: parameters by name, or the names of Solr's JSON requests. */
export const SEARCH_BODIES = {
  'application/json': z.record(z.string(), z.unknown()).meta({
    description: 'Parameters by name, several values as an array; `query`, `filter`, `limit`, `offset`, `fields` too.',
  }),
};
