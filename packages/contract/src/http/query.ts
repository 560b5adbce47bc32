import { endpoint } from '../endpoint.ts';
import { flag } from '../parameter.ts';
import { SEARCH_ANSWER, SEARCH_BODIES, SEARCH_PARAMETERS } from '../search.ts';

export const query = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  under: 'collections',
  path: '/{collection}/query',
  summary: 'The same as `/select`, with an indented answer.',
  parameters: SEARCH_PARAMETERS.extend({
    indent: flag().default(true).meta({ description: 'Indent the answer.' }),
  }),
  bodies: SEARCH_BODIES,
  picture: 'rank.by.data',
  answer: SEARCH_ANSWER,
});
