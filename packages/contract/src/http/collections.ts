import { z } from 'zod';
import { answer, COLLECTION, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';

export const collections = endpoint({
  methods: ['GET'],
  scope: 'search',
  limited: true,
  under: 'collections',
  path: '',
  summary: 'All collections with their state.',
  parameters: z.object(COMMON_PARAMETERS),
  answer: answer({ collections: z.array(COLLECTION) }),
});
