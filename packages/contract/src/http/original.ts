import { z } from 'zod';
import { COLLECTION_PARAMETER } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice, text } from '../parameter.ts';

export const original = endpoint({
  methods: ['GET'],
  scope: 'index',
  obeysKeyFilter: true,
  path: '/{collection}/original',
  summary: 'Get the picture file that a document was indexed from.',
  description:
    'Only if this akin indexed the folder of the file into this collection, and the file still contains what was indexed; otherwise 404. Links are resolved first, and a file that is hidden or outside of these folders is not served. Takes `Range`. Pages of other sites are refused (403).',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    id: text().meta({ description: 'Id of the document.' }),
    format: choice(['webp']).optional().meta({
      description: 'Convert the picture, for types that browsers do not show. The longer side has at most 2560 pixels.',
    }),
  }),
  response: 'image/*',
  statuses: { 206: 'The range that was asked for.', 304: 'The file still has the ETag that was sent.' },
});
