import { endpoint } from '../endpoint.ts';
import { SEARCH_ANSWER, SEARCH_BODIES, SEARCH_PARAMETERS } from '../search.ts';

export const duplicate = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  under: 'collections',
  path: '/{collection}/duplicate',
  summary: 'Find copies: a search with `rank.mode=duplicate` and `rank.threshold=0.7`.',
  description: 'Requires at least one `rank.by.*`. Parameters override the defaults.',
  parameters: SEARCH_PARAMETERS,
  bodies: SEARCH_BODIES,
  picture: 'rank.by.data',
  answer: SEARCH_ANSWER,
});
