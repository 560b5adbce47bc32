import { z } from 'zod';
import { answer, COLLECTION_PARAMETER, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { flag, text } from '../parameter.ts';
import { REINDEX } from './reindex-status.ts';

export const reindex = endpoint({
  scope: 'admin',
  methods: ['POST'],
  under: 'collections',
  path: '/{collection}/reindex',
  summary: 'Make a collection anew beside itself, and exchange the two in one step.',
  description:
    'Answers 202 at once, and the work goes on in the background: see the same address by GET. Searches and changes go on meanwhile; for the moment of the exchange changes get 503 with Retry-After. Outputs that the models of today take come along, else those of another collection (outputsFrom), else the picture is fetched and analyzed again. If anything cannot come along, nothing is exchanged. When somebody is at it already, that goes on, and nothing else begins.',
  changes: true,
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    field: z
      .array(text())
      .default([])
      .meta({
        description: '`name:type`: a field that is to have another type than today.',
        example: ['price:double'],
      }),
    allowMissing: flag().default(false).meta({
      description:
        'Exchange them even if documents cannot come along. Those without a picture to fetch come without outputs.',
    }),
    outputsFrom: text().optional().meta({
      description:
        'Another collection: documents that have no outputs, or none that hold any more, take those, and the thumbnail, of the document with their id there.',
      example: 'my-pictures',
    }),
    ...COMMON_PARAMETERS,
  }),
  bodies: { 'application/json': z.object({ field: z.array(z.string()).optional() }) },
  answer: answer({
    ...REINDEX.shape,
    began: z.boolean().meta({
      description:
        'Whether this request began it. If not, somebody is at it already, and the parameters of this request do not count.',
    }),
  }),
  statuses: { 202: 'It is under way.' },
});
