import { z } from 'zod';
import { answer, COLLECTION_PARAMETER, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';
import { schema } from './schema.ts';

/** What else clients of Solr send to a schema. The handler says what akin does instead. */
export const REFUSED_SCHEMA_COMMANDS = [
  'replace-field',
  'delete-field',
  'add-dynamic-field',
  'replace-dynamic-field',
  'delete-dynamic-field',
  'add-field-type',
  'replace-field-type',
  'delete-field-type',
  'add-copy-field',
  'delete-copy-field',
] as const;

const SOLR_FIELD = z.looseObject({ name: z.string(), type: z.string(), multiValued: z.boolean().optional() });

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
    'add-field': z
      .array(text())
      .default([])
      .meta({
        description:
          'The same as clients of Solr ask for it, a JSON object each: a type that Solr has by itself, one value a document.',
        example: ['{"name":"price","type":"pdouble"}'],
      }),
    ...COMMON_PARAMETERS,
  }),
  bodies: {
    'application/json': z.object({
      field: z.array(z.string()).optional(),
      'add-field': z.union([SOLR_FIELD, z.array(SOLR_FIELD)]).optional(),
    }),
  },
  structured: ['add-field', ...REFUSED_SCHEMA_COMMANDS],
  answer: answer({
    schema: schema.answer.shape.schema.optional().meta({ description: 'Not after `add-field`.' }),
  }),
});
