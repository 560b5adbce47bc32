import { endpoint } from '../endpoint.ts';
import { SEARCH_BODIES, SEARCH_PARAMETERS, SEARCH_RESPONSE } from '../search.ts';

export const parts = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/parts',
  summary: 'Find pictures that contain a part of this one, or are a part of it: a search with `rank.mode=parts`.',
  description:
    'Finds crops, collages, screenshots, and turned or mirrored pictures, among the documents that the module `parts` has analyzed. Requires one picture: `rank.by.id`, `rank.by.url`, `rank.by.data` or a file. Only documents with a score of at least `rank.threshold`, by default 0.7, match. `fl=parts_box` says where the common part is: `query` and `document` as x, y, width and height in fractions, `turn` in degrees, `scale`, and `mirrored`.',
  parameters: SEARCH_PARAMETERS,
  bodies: SEARCH_BODIES,
  pictureParameter: 'rank.by.data',
  response: SEARCH_RESPONSE,
});
