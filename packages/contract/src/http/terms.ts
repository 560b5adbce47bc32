import { z } from 'zod';
import { AFTER_PARAMETERS, answer, COLLECTION_PARAMETER, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice, limit, text, whole } from '../parameter.ts';
import { MAX_AFTER_TIMEOUT } from '../search.ts';

export const terms = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  under: 'collections',
  path: '/{collection}/terms',
  summary: 'Values of fields with the number of documents that have them.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    'terms.fl': z
      .array(text())
      .default([])
      .meta({ description: 'The fields.', example: ['labels'] }),
    'terms.limit': limit(1_000_000).default(10).meta({ description: 'Most values of a field; negative for all.' }),
    'terms.prefix': text().optional().meta({ description: 'Only values that begin so.' }),
    'terms.sort': choice(['count', 'index']).default('count').meta({ description: 'By count, or by value.' }),
    'json.nl': choice(['flat', 'map', 'arrarr', 'arrmap', 'arrntv']).default('flat').meta({
      description: 'How the lists are written.',
    }),
    ...AFTER_PARAMETERS,
    afterTimeout: whole(0, MAX_AFTER_TIMEOUT).default(30_000).meta({ description: 'As for a search.' }),
    ...COMMON_PARAMETERS,
  }),
  answer: answer({
    terms: z
      .record(z.string(), z.unknown())
      .meta({ description: 'For each field a flat list: value, count, value, count …; or as `json.nl` says.' }),
  }),
});
