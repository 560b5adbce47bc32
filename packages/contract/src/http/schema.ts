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

/** Further commands that Solr's clients send to a schema, and what to do instead. The handler refuses them. */
export const REFUSED_SCHEMA_COMMANDS = {
  'replace-field': 'a field keeps its type; POST …/reindex?field=name:type reindexes the collection with another type',
  'delete-field': 'fields cannot be removed; one that no document has costs nothing',
  'add-dynamic-field': 'a new field gets its type from its first value, or from add-field, whatever its name',
  'replace-dynamic-field': 'there are no dynamic fields; a new field gets its type from its first value',
  'delete-dynamic-field': 'there are no dynamic fields; a new field gets its type from its first value',
  'add-field-type': 'the types are fixed: boolean, long, double, date and string, and lists of all but the first',
  'replace-field-type': 'the types are fixed: boolean, long, double, date and string, and lists of all but the first',
  'delete-field-type': 'the types are fixed: boolean, long, double, date and string, and lists of all but the first',
  'add-copy-field': 'nothing is copied; the field "text" finds the words of all strings by itself',
  'delete-copy-field': 'nothing is copied; the field "text" finds the words of all strings by itself',
};

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
  jsonParameters: ['add-field', ...Object.keys(REFUSED_SCHEMA_COMMANDS)],
  response: responseOf({
    schema: schema.response.shape.schema.optional().meta({ description: 'Missing after `add-field`.' }),
  }),
});
