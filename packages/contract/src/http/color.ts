import { endpoint } from '../endpoint.ts';
import { SEARCH_ANSWER, SEARCH_BODIES, SEARCH_PARAMETERS } from '../search.ts';

export const color = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  under: 'collections',
  path: '/{collection}/color',
  summary: 'Rank by colours: a search with `rank.mode=color`.',
  description: 'Needs at least one `rank.by.*`; every default may be overridden.',
  parameters: SEARCH_PARAMETERS,
  bodies: SEARCH_BODIES,
  answer: SEARCH_ANSWER,
});
