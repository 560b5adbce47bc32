import { z } from 'zod';
import { COLLECTION_PARAMETER } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';

export const thumbnail = endpoint({
  methods: ['GET'],
  scope: 'search',
  under: 'collections',
  path: '/{collection}/thumbnail',
  summary: 'The small picture of a document: WebP, at most 256 pixels a side.',
  parameters: z.object({ collection: COLLECTION_PARAMETER, id: text().meta({ description: 'Id of the document.' }) }),
  answer: 'image/webp',
  statuses: { 304: 'Not changed since the ETag that was sent.' },
});
