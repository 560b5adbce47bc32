import { z } from 'zod';
import { AFTER_PARAMETERS, collectionParameters, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice, limit, text, texts } from '../parameter.ts';
import { QUERY_PARAMETERS, SEARCH_PARAMETERS } from '../search.ts';

const { fq } = SEARCH_PARAMETERS.shape;

export const terms = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  obeysKeyFilter: true,
  path: '/{collection}/terms',
  summary: 'List the values of fields, with the number of documents for each.',
  parameters: collectionParameters({
    'terms.fl': texts().meta({ description: 'The fields.', example: ['labels'] }),
    'terms.limit': limit(1_000_000).default(10).meta({
      description:
        'Maximum number of values per field. A negative value returns all, up to 100,000 values of all fields together.',
    }),
    'terms.prefix': text().optional().meta({ description: 'Only values that begin with this text.' }),
    'terms.sort': choice(['count', 'index']).default('count').meta({ description: 'Sort by count or by value.' }),
    fq: fq.meta({ description: 'Only documents that match all of these filters count.', example: ['category:shoe'] }),
    ...QUERY_PARAMETERS,
    'json.nl': choice(['flat', 'map', 'arrarr', 'arrmap', 'arrntv']).default('flat').meta({
      description: 'Format of the lists.',
    }),
    ...AFTER_PARAMETERS,
  }),
  response: responseOf({
    terms: z.record(z.string(), z.unknown()).meta({
      description:
        'One list per field. The default is flat: value, count, value, count … `json.nl` sets another format.',
    }),
  }),
});
