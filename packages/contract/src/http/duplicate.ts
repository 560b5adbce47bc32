import { endpoint } from '../endpoint.ts';
import { SEARCH_BODIES, SEARCH_PARAMETERS, SEARCH_RESPONSE } from '../search.ts';

export const duplicate = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/duplicate',
  summary: 'Find copies: a search with `rank.mode=duplicate` and `rank.threshold=0.7`.',
  description:
    'Requires at least one `rank.by.*`. Parameters override the defaults. In a collection with the module `parts`, one picture is also searched for by its points: the better of both scores counts, and `fl=parts_box` says where the common part is.',
  parameters: SEARCH_PARAMETERS,
  bodies: SEARCH_BODIES,
  pictureParameter: 'rank.by.data',
  response: SEARCH_RESPONSE,
});
