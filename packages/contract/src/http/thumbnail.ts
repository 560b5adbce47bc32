import { z } from 'zod';
import { COLLECTION_PARAMETER } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';

export const thumbnail = endpoint({
  methods: ['GET'],
  scope: 'search',
  obeysKeyFilter: true,
  path: '/{collection}/thumbnail',
  summary: 'Get the thumbnail of a document, as WebP of at most 256 × 256 pixels.',
  parameters: z.object({ collection: COLLECTION_PARAMETER, id: text().meta({ description: 'Id of the document.' }) }),
  response: 'image/webp',
  statuses: { 304: 'The thumbnail still has the ETag that was sent.' },
});
