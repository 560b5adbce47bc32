import { z } from 'zod';
import { answer, COLLECTION_PARAMETER, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';
import { schema } from './schema.ts';

export const defineFields = endpoint({
  methods: ['POST'],
  scope: 'index',
  under: 'collections',
  path: '/{collection}/schema',
  summary: 'Give fields their types before any document has them.',
  description:
    'Without it the first value of a field decides its type. A field that has its type already is left; one that has another is a conflict, and nothing is defined then.',
  changes: true,
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    field: z
      .array(text())
      .default([])
      .meta({
        description: '`name:type`, where type is `boolean`, `long`, `double`, `date` or `string`.',
        example: ['price:double'],
      }),
    ...COMMON_PARAMETERS,
  }),
  bodies: { 'application/json': z.object({ field: z.array(z.string()) }) },
  answer: answer({ schema: schema.answer.shape.schema }),
});
