import { endpoint } from '../endpoint.ts';
import { flag } from '../parameter.ts';
import { SEARCH_BODIES, SEARCH_PARAMETERS, SEARCH_RESPONSE } from '../search.ts';

export const query = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  mount: 'collections',
  path: '/{collection}/query',
  summary: 'The same as `/select`, with an indented response.',
  parameters: SEARCH_PARAMETERS.extend({
    indent: flag().default(true).meta({ description: 'Indent the response.' }),
  }),
  bodies: SEARCH_BODIES,
  pictureParameter: 'rank.by.data',
  response: SEARCH_RESPONSE,
});
