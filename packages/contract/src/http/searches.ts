import { endpoint } from '../endpoint.ts';
import { flag } from '../parameter.ts';
import { SEARCH_BODIES, SEARCH_PARAMETERS, SEARCH_RESPONSE } from '../search.ts';

const SEARCH = {
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  parameters: SEARCH_PARAMETERS,
  bodies: SEARCH_BODIES,
  pictureParameter: 'rank.by.data',
  response: SEARCH_RESPONSE,
} as const;

export const select = endpoint({
  ...SEARCH,
  path: '/{collection}/select',
  summary: 'Search. Ranks by similarity only with `rank.by.*`.',
});

export const query = endpoint({
  ...SEARCH,
  path: '/{collection}/query',
  summary: 'The same as `/select`, with an indented response.',
  parameters: SEARCH_PARAMETERS.extend({
    indent: flag().default(true).meta({ description: 'Indent the response.' }),
  }),
});

export const image = endpoint({
  ...SEARCH,
  path: '/{collection}/image',
  summary: 'Find similar pictures: a search with `rank.mode=content`.',
  description: 'Requires at least one `rank.by.*`. Parameters override the defaults.',
});

export const color = endpoint({
  ...SEARCH,
  path: '/{collection}/color',
  summary: 'Find pictures with similar colours: a search with `rank.mode=color`.',
  description: 'Requires at least one `rank.by.*`. Parameters override the defaults.',
});

export const duplicate = endpoint({
  ...SEARCH,
  path: '/{collection}/duplicate',
  summary: 'Find copies: a search with `rank.mode=duplicate` and `rank.threshold=0.7`.',
  description:
    'Requires at least one `rank.by.*`. Parameters override the defaults. In a collection with the module `parts`, one picture is also searched for by its points: the better of both scores counts, and `fl=parts_box` says where the common part is.',
});

export const parts = endpoint({
  ...SEARCH,
  path: '/{collection}/parts',
  summary: 'Find pictures that contain a part of this one, or are a part of it: a search with `rank.mode=parts`.',
  description:
    'Finds crops, collages, screenshots, and turned or mirrored pictures, among the documents that the module `parts` has analyzed. Requires one picture: `rank.by.id`, `rank.by.url`, `rank.by.data` or a file. Only documents with a score of at least `rank.threshold`, by default 0.7, match. `fl=parts_box` says where the common part is: `query` and `document` as x, y, width and height in fractions, `turn` in degrees, `scale`, and `mirrored`.',
});
