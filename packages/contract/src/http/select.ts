import { endpoint } from '../endpoint.ts';
import { SEARCH_BODIES, SEARCH_PARAMETERS, SEARCH_RESPONSE } from '../search.ts';

export const select = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/select',
  summary: 'Search. Ranks by similarity only with `rank.by.*`.',
  parameters: SEARCH_PARAMETERS,
  bodies: SEARCH_BODIES,
  pictureParameter: 'rank.by.data',
  response: SEARCH_RESPONSE,
});
