import { z } from 'zod';
import { AFTER_PARAMETERS, answer, COLLECTION_PARAMETER, COMMON_PARAMETERS, DOCUMENT } from './common.ts';
import { choice, decimal, flag, text, whole } from './parameter.ts';

/** Most documents of one page. */
export const MAX_ROWS = 1000;
/** Deepest place that `start` and `rows` reach together. */
export const MAX_DEPTH = 10_000;
/** Longest wait for the operations of an `after` token, in milliseconds. */
export const MAX_AFTER_TIMEOUT = 300_000;

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
    .optional()
    .meta({ description: 'Time zone in which date math rounds, such as `Europe/Berlin`. Default UTC.' }),
  timeAllowed: whole(0).optional().meta({ description: 'Milliseconds. Accepted; answers are always whole.' }),
  'rank.by.id': z.array(text()).default([]).meta({ description: 'Rank by similarity to this stored document.' }),
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
  'rank.approximate': flag().optional().meta({ description: 'Accepted; ranking is exact.' }),
  'rank.smartfilter': choice(['off', 'low', 'medium', 'high']).optional().meta({
    description: 'Accepted; ranking is exact.',
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
});

/** A search may come as JSON too: parameters by name, or the names of Solr's JSON requests. */
export const SEARCH_BODIES = {
  'application/json': z.record(z.string(), z.unknown()).meta({
    description: 'Parameters by name, several values as an array; `query`, `filter`, `limit`, `offset`, `fields` too.',
  }),
};
