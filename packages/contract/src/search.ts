import { isTimeZone } from '@akin/domain';
import { z } from 'zod';
import { AFTER_PARAMETERS, afterTimeout, collectionParameters, DOCUMENT, responseOf } from './common.ts';
import { choice, decimal, flag, integer, limit, text, texts } from './parameter.ts';

/** Maximum number of documents on one page. */
export const MAX_ROWS = 1000;
/** Maximum of `start` plus `rows`. */
export const MAX_DEPTH = 10_000;

const RANGE_INCLUDES = ['lower', 'upper', 'edge', 'outer', 'all'] as const;
const RANGE_OTHERS = ['before', 'after', 'between', 'all', 'none'] as const;

/** Settings for counting facets. Each applies to all facets, or as `f.<field>.<name>` to those of one field. */
export const FACET_SETTINGS = z.object({
  'facet.limit': limit().default(100).meta({
    description:
      'Maximum number of values per field. A negative value returns all. `f.<field>.facet.limit` sets it for one field; every facet setting has this form.',
  }),
  'facet.offset': integer(0).default(0).meta({ description: 'Number of values to skip.' }),
  'facet.mincount': integer(0).default(0).meta({
    description: 'Minimum count. With 0, values of Strings and Booleans that no match has are listed too.',
  }),
  'facet.sort': choice(['count', 'index', 'true', 'false']).optional().meta({
    description:
      '`count`: highest count first, the default. `index`: by value, the default when all values are requested.',
  }),
  'facet.prefix': text().optional().meta({ description: 'Only values that begin with this text.' }),
  'facet.contains': text().optional().meta({ description: 'Only values that contain this text.' }),
  'facet.contains.ignoreCase': flag().default(false).meta({ description: 'Ignore case.' }),
  'facet.excludeTerms': text().optional().meta({ description: 'Values to leave out, separated by commas.' }),
  'facet.missing': flag()
    .default(false)
    .meta({ description: 'Add the number of documents without a value as the last entry.' }),
  'facet.range.start': text().optional().meta({ description: 'Start of the first range.' }),
  'facet.range.end': text().optional().meta({ description: 'End of the last range.' }),
  'facet.range.gap': text().optional().meta({ description: 'Width of a range. For dates, for example `+1MONTH`.' }),
  'facet.range.hardend': flag().default(false).meta({ description: 'True: the last range ends exactly at `end`.' }),
  'facet.range.include': z.array(choice(RANGE_INCLUDES)).default([]).meta({
    description: 'Bounds that belong to a range. Default: `lower`.',
  }),
  'facet.range.other': z.array(choice(RANGE_OTHERS)).default([]).meta({
    description: 'Also count the documents `before`, `after` or `between` all ranges.',
  }),
});

export type FacetSettings = z.output<typeof FACET_SETTINGS>;

/** Parameters of all search endpoints. */
export const SEARCH_PARAMETERS = collectionParameters({
  q: text()
    .default('*:*')
    .meta({ description: 'The query. With `rank.by.*` it filters and does not rank.', example: 'labels:shoe' }),
  fq: texts().meta({
    description: 'Filter queries. All of them must match: `-id:7`, `price:[10 TO *]`.',
    example: ['price:[10 TO *]'],
  }),
  sort: text()
    .optional()
    .meta({ description: 'Sort order, for example `price asc, geodist() asc, id asc`. Default: highest score first.' }),
  fl: texts().meta({
    description:
      'Fields to return, separated by commas or spaces. Names may contain `*`: `id,color_*,score,cost:price,km:geodist()`. `-outputs` leaves out the outputs of the analysis that are not named: `*,-outputs`.',
  }),
  start: integer(0, MAX_DEPTH, '; use cursorMark to go deeper')
    .default(0)
    .meta({ description: 'Position of the first document of the page, from 0.' }),
  rows: integer(0, MAX_ROWS, '; use cursorMark to page through more')
    .default(10)
    .meta({ description: 'Number of documents on the page.' }),
  df: text().optional().meta({ description: 'Field for words without a field name. Default: `text`.' }),
  'q.op': z
    .string()
    .transform((word) => word.toUpperCase())
    .pipe(choice(['AND', 'OR']))
    .optional()
    .meta({ description: 'Operator between words without one. Default: OR.' }),
  pt: text().optional().meta({
    description: 'Point for `{!geofilt}`, `{!bbox}` and `geodist()`: latitude and longitude.',
    example: '48.14,11.58',
  }),
  d: text().optional().meta({ description: 'Radius for `{!geofilt}` and `{!bbox}` in kilometers.', example: '5' }),
  sfield: text().optional().meta({ description: 'Location field. Default: `location`.' }),
  cursorMark: text()
    .optional()
    .meta({ description: '`*` for the first page, then the `nextCursorMark` of the previous response.' }),
  NOW: integer(0, 8_640_000_000_000_000)
    .optional()
    .meta({ description: 'Value of NOW in date math, in milliseconds since 1970.' }),
  TZ: text()
    .refine(isTimeZone, 'must be a time zone, such as Europe/Berlin or GMT+1 (in a URL GMT%2B1)')
    .optional()
    .meta({
      description: 'Time zone for rounding in date math, for example `Europe/Berlin` or `GMT+1`. Default: UTC.',
    }),
  timeAllowed: limit().optional().meta({
    description:
      'Time limit in milliseconds. A response that reaches it is partial, and its header contains `partialResults`. 0 and negative values set no limit. Searches with `cursorMark` have no limit.',
  }),
  minExactCount: integer(0).optional().meta({
    description:
      'Number of matches up to which `numFound` is exact. Above it, `numFound` may be a lower bound. Default: always exact.',
  }),
  facet: flag().default(false).meta({ description: 'Count the matches by the given `facet.*` parameters.' }),
  'facet.field': texts().meta({
    description:
      'Count by the values of these fields. `{!ex=tag}field` leaves out the filters that are tagged `{!tag=tag}…`.',
    example: ['labels'],
  }),
  'facet.query': texts().meta({ description: 'Count the matches that also match these queries.' }),
  'facet.range': texts().meta({
    description:
      'Count by ranges of these fields. They must have numbers or dates; a document counts once in each range, however many values it has there.',
  }),
  ...FACET_SETTINGS.shape,
  expand: flag().default(false).meta({
    description:
      'With a filter `{!collapse field=product}`, which shows one document for each value of a field: also return the others, as `expanded`, by the value.',
  }),
  'expand.rows': integer(0, MAX_ROWS).default(5).meta({ description: 'Number of other documents for each value.' }),
  'expand.sort': text().optional().meta({ description: 'Their order. Default: highest score first.' }),
  group: flag().default(false).meta({
    description: 'Return groups of documents with the same value of `group.field`, as `grouped` instead of `response`.',
  }),
  'group.field': texts().meta({
    description: 'The field, with one value per document. `rows`, `start` and `sort` are about groups.',
  }),
  'group.limit': integer(0, MAX_ROWS).default(1).meta({ description: 'Number of documents of each group.' }),
  'group.offset': integer(0, MAX_DEPTH).default(0).meta({ description: 'Number of documents of each group to skip.' }),
  'group.sort': text().optional().meta({ description: 'Order inside a group. Default: that of `sort`.' }),
  'group.format': choice(['grouped', 'simple']).default('grouped').meta({
    description: '`simple`: one list of the documents of all groups. `start` and `rows` then count documents.',
  }),
  'group.main': flag().default(false).meta({ description: 'The same list, as `response`.' }),
  'group.ngroups': flag().default(false).meta({ description: 'Also return the number of groups.' }),
  'group.truncate': flag().default(false).meta({
    description: 'Facets count only the first document of each group, not all matches.',
  }),
  stats: flag().default(false).meta({ description: 'Compute the figures of the fields in `stats.field`.' }),
  'stats.field': texts().meta({
    description:
      'Fields whose `min`, `max`, `count` and `missing` over all matches are returned, and `sum`, `mean` and `stddev` of numbers. `{!ex=tag}price` leaves out the filters that are tagged `{!tag=tag}…`; `{!min=true max=true}price` returns only these.',
    example: ['price'],
  }),
  'json.nl': choice(['flat', 'map', 'arrarr', 'arrmap', 'arrntv']).default('flat').meta({
    description: 'Format of lists of values and counts.',
  }),
  'rank.by.id': texts().meta({
    description:
      'Rank by similarity to this stored document. If the collection has descriptors of another model, every other `rank.by.*` is answered with 409; without a calibration of that model, this one is too.',
  }),
  'rank.by.url': texts().meta({ description: 'Rank by similarity to the picture at this URL.' }),
  'rank.by.data': texts().meta({
    description: 'Rank by similarity to this picture, as base64 or a data URI. Send it in a form body.',
  }),
  'rank.by.hex': texts().meta({
    description:
      'Rank by colours, as `0xRRGGBB` or `#RRGGBB`. Separate several by commas, each with an optional `:weight`.',
    example: ['0xff0000:2,0xffffff'],
  }),
  'rank.by.text': texts().meta({
    description:
      'Rank by how well pictures match these words, 1 to 1,000 characters. Only with `rank.mode=content`, and a content model with a text encoder. A search by words alone has its own calibration.',
    example: ['a red bike on the beach'],
  }),
  'rank.by.outputs': texts().meta({ description: 'Rank by the `outputs` of an analysis.' }),
  'rank.region': texts().meta({
    description:
      'The part of a picture that counts: `x,y,w,h` in fractions of its upright sides, at least 16 pixels a side. One for each `rank.by.id`, `rank.by.url`, `rank.by.data` or file, in their order; an empty one means the whole picture. The part of a document is cut from its original file or address, or else from its thumbnail, which a warning says.',
    example: ['0.5,0,0.5,1'],
  }),
  'rank.weights': text().optional().meta({
    description: 'One number for each `rank.by.*`, in the same order. A negative number means "not like this".',
    example: '1,-0.5',
  }),
  'rank.mode': text()
    .optional()
    .meta({ description: 'Kind of similarity: `content`, `color` or `duplicate`; or `parts`, as `/parts`.' }),
  collapse: choice(['duplicates']).optional().meta({
    description:
      '`duplicates`: show one document of each group of near-duplicates. Its `collapsed` is the number of others that match and are left out; `numFound` counts the documents that are shown. Not with `cursorMark`.',
  }),
  'rank.threshold': decimal(0, 1).optional().meta({ description: 'Minimum score of a match.' }),
  'rank.approximate': flag().optional().meta({
    description:
      'False always gives the exact result. Otherwise the result is `approximate` if more than 20,000 documents match, or if very many are almost equally near. `responseHeader.ranking` says which.',
  }),
  'rank.smartfilter': choice(['off', 'low', 'medium', 'high']).optional().meta({
    description:
      'How many documents with the nearest codes an approximate ranking compares. `off`: all documents, which is exact. `low` (the default), `medium` and `high`: at least 2,500, 1,000 and 500, and more if many are almost equally near. Searches with `rank.threshold`, with `cursorMark` or past the first 1,000 documents are exact.',
  }),
  ...AFTER_PARAMETERS,
  afterTimeout: afterTimeout('Longest wait for `after`, in milliseconds. After it the response is 503.'),
});

const { df, pt, d, sfield, NOW, TZ } = SEARCH_PARAMETERS.shape;

/** The parameters that say how a query is read. */
export const QUERY_PARAMETERS = { df, pt, d, sfield, NOW, TZ };

const DOCUMENT_LIST = z.object({
  numFound: z.int().meta({ description: 'Documents that match.' }),
  start: z.int(),
  maxScore: z.number().optional().meta({ description: 'Highest score of all matches.' }),
  numFoundExact: z.boolean().meta({ description: 'False if `numFound` is a lower bound.' }),
  docs: z.array(DOCUMENT),
});

/** Response of all search endpoints. */
export const SEARCH_RESPONSE = responseOf({
  response: DOCUMENT_LIST.optional().meta({ description: 'Missing with `group=true`, unless `group.main` is set.' }),
  grouped: z
    .record(
      z.string(),
      z.object({
        matches: z.int().meta({ description: 'Documents that match.' }),
        ngroups: z.int().optional(),
        groups: z.array(z.object({ groupValue: z.unknown(), doclist: DOCUMENT_LIST })).optional(),
        doclist: DOCUMENT_LIST.optional().meta({ description: 'With `group.format=simple`.' }),
      }),
    )
    .optional()
    .meta({ description: 'With `group=true`, by the field. `groupValue` is null for documents without a value.' }),
  expanded: z
    .record(z.string(), DOCUMENT_LIST)
    .optional()
    .meta({ description: 'With `expand=true`: the other documents of each value on the page that has some.' }),
  nextCursorMark: z.string().optional(),
  facet_counts: z
    .object({
      facet_queries: z.record(z.string(), z.int()),
      facet_fields: z
        .record(z.string(), z.unknown())
        .meta({ description: 'Values and counts, in the format of `json.nl`.' }),
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
  stats: z
    .object({
      stats_fields: z.record(
        z.string(),
        z.object({
          min: z.unknown().optional(),
          max: z.unknown().optional(),
          count: z.int().optional(),
          missing: z.int().optional(),
          sum: z.number().nullable().optional(),
          mean: z.number().nullable().optional(),
          stddev: z.number().nullable().optional(),
        }),
      ),
    })
    .optional()
    .meta({ description: 'With `stats=true`. Figures that do not exist, such as the least of no values, are null.' }),
});

/** A search may come as JSON too: parameters by name, or the names of Solr's JSON requests. */
export const SEARCH_BODIES = {
  'application/json': z.record(z.string(), z.unknown()).meta({
    description:
      'Parameters by name, with several values as an array. The names `query`, `filter`, `limit`, `offset` and `fields` of Solr work too.',
  }),
};
