import { endpoint } from '../endpoint.ts';
import { flag } from '../parameter.ts';
import { SEARCH_ANSWER, SEARCH_BODIES, SEARCH_PARAMETERS } from '../search.ts';

export const query = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  under: 'collections',
  path: '/{collection}/query',
  summary: 'The same as `/select`, laid out over lines.',
  parameters: SEARCH_PARAMETERS.extend({
    indent: flag().default(true).meta({ description: 'Lay the answer out over lines.' }),
  }),
  bodies: SEARCH_BODIES,
  answer: SEARCH_ANSWER,
});
