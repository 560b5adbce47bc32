import { z } from 'zod';
import { collectionParameters, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { texts } from '../parameter.ts';

export const schema = endpoint({
  methods: ['GET'],
  scope: 'search',
  obeysKeyFilter: true,
  path: '/{collection}/schema',
  summary: 'List the fields of a collection with their types.',
  parameters: collectionParameters({}),
  response: responseOf({
    schema: z.object({
      name: z.string(),
      uniqueKey: z.literal('id'),
      fields: z.array(
        z.object({
          name: z.string(),
          type: z.string().meta({ example: 'long' }),
          multiValued: z.boolean(),
          required: z.boolean(),
          stored: z.boolean(),
          origin: z.enum(['preconfigured', 'analysis', 'document']).meta({ description: 'What defined the field.' }),
        }),
      ),
    }),
  }),
});

/** Further commands that Solr's clients send to a schema. The handler refuses them and says what to do instead. */
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
  obeysKeyFilter: true,
  path: '/{collection}/schema',
  summary: 'Give fields their types before any document has them.',
  description:
    'Without it, the first value of a field decides its type. A field that already has the requested type stays as it is. A field with another type is a conflict, and then no field is defined.',
  parameters: collectionParameters({
    field: texts().meta({
      description:
        '`name:type`, where type is `boolean`, `long`, `double`, `date` or `string`. A list takes arrays of up to 1,000 values: `long[]`, `double[]`, `date[]` or `string[]`.',
      example: ['price:double', 'sizes:string[]'],
    }),
    'add-field': texts().meta({
      description:
        'The same in the syntax of Solr, one JSON object per field. The type must be one that Solr has by default, `multiValued` makes a list.',
      example: ['{"name":"price","type":"pdouble"}'],
    }),
  }),
  bodies: {
    'application/json': z.object({
      field: z.array(z.string()).optional(),
      'add-field': z.union([SOLR_FIELD, z.array(SOLR_FIELD)]).optional(),
    }),
  },
  jsonParameters: ['add-field', ...REFUSED_SCHEMA_COMMANDS],
  response: responseOf({
    schema: schema.response.shape.schema.optional().meta({ description: 'Missing after `add-field`.' }),
  }),
});
