import { endpoint } from '../endpoint.ts';
import { SEARCH_BODIES, SEARCH_PARAMETERS, SEARCH_RESPONSE } from '../search.ts';

export const color = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/color',
  summary: 'Find pictures with similar colours: a search with `rank.mode=color`.',
  description: 'Requires at least one `rank.by.*`. Parameters override the defaults.',
  parameters: SEARCH_PARAMETERS,
  bodies: SEARCH_BODIES,
  pictureParameter: 'rank.by.data',
  response: SEARCH_RESPONSE,
});
