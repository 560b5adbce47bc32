import { ERROR_CODES, SCOPES } from '@akin/domain';
import { z } from 'zod';
import { choice, flag, integer, text } from './parameter.ts';

/** Parameters of every JSON endpoint. They change the format of the response, not its data. */
export const COMMON_PARAMETERS = {
  wt: text().optional().meta({
    description:
      'Format of the response: `json`, `xml` as in Solr, or `html` for a page with pictures. Any other value is `json`.',
  }),
  indent: flag().default(false).meta({ description: 'Indent the JSON.' }),
  omitHeader: flag().default(false).meta({ description: 'Leave out `responseHeader`.' }),
  echoParams: choice(['none', 'explicit', 'all'])
    .default('none')
    .meta({ description: 'Repeat the parameters in `responseHeader.params`. Image data is shortened.' }),
  logParamsList: text().optional().meta({
    description: 'Parameters that the log may contain, separated by commas. An empty value logs none.',
  }),
};

/** Longest wait for the operations of an `after` token, in milliseconds. */
const MAX_AFTER_TIMEOUT = 300_000;

export function afterTimeout(description = 'As for a search.') {
  return integer(0, MAX_AFTER_TIMEOUT).default(30_000).meta({ description });
}

/** Parameters of reads that must see the changes of an update. */
export const AFTER_PARAMETERS = {
  after: text().optional().meta({
    description:
      'The `responseHeader.token` of an update. The response waits until its operations are visible, failed or superseded.',
  }),
  afterTimeout: afterTimeout(),
};

export const OPERATION_PARAMETER = text().meta({
  description: 'Name of the operation, from the response to an update.',
  example: 'my-collection-17',
});

/** The quota of a collection. */
export const QUOTA_PARAMETERS = {
  maxDocuments: integer(0).optional().meta({
    description:
      'Maximum number of documents in the collection, including accepted ones that are not visible yet. Default: no limit.',
    example: 100_000,
  }),
  maxBytes: integer(0).optional().meta({
    description: 'Maximum number of bytes of its documents (`bytes` of a collection). Default: no limit.',
    example: 1_000_000_000,
  }),
};

/** All modules, as parameters name them. The registry is in `@akin/modules`, which this package does not import. */
export const MODULE_NAMES = 'color,content,copyspace,duplicate,parts';

export const MODULES_APPLY = text()
  .optional()
  .meta({
    description: `Modules that analyze the pictures, separated by commas: \`${MODULE_NAMES}\`. Default: those of the collection.`,
    example: 'content',
  });

export const COLLECTION_PARAMETER = text().meta({ description: 'Name of the collection.', example: 'my-collection' });

/** The parameters of an endpoint of one collection: its name, those of the endpoint, and those of every JSON endpoint. */
export function collectionParameters<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object({ collection: COLLECTION_PARAMETER, ...shape, ...COMMON_PARAMETERS });
}

/** The first member of every JSON response. */
const RESPONSE_HEADER = z
  .looseObject({
    status: z.int().meta({ description: '0 on success, otherwise the HTTP status.' }),
    QTime: z.int().meta({ description: 'Time to answer in milliseconds.' }),
    params: z.record(z.string(), z.unknown()).optional(),
    warnings: z.array(z.string()).optional(),
    errors: z
      .array(
        z.object({ type: choice(['ADD', 'DELID', 'DELQ']), id: z.string(), position: z.int(), message: z.string() }),
      )
      .optional()
      .meta({
        description:
          'For updates with `maxErrors`: the documents and deletes that are left out, at most 10,000 and 4 MiB; a warning says how many more there are. `position` counts from 0; a document without a valid id has the id `(unknown)`, a delete by query the beginning of its query.',
      }),
    ranking: z.enum(['exact', 'approximate']).optional().meta({
      description: 'For ranked searches: `exact` if the page is the same as after comparing every match.',
    }),
    searcher: z
      .enum(['memory', 'database'])
      .optional()
      .meta({ description: 'What found the page of a ranked search: codes in memory, or only the database.' }),
    distances: z
      .int()
      .optional()
      .meta({ description: 'For ranked searches: about how many descriptors were compared.' }),
  })
  .meta({ id: 'ResponseHeader' });

/** A response: its header, unless `omitHeader` removes it, and other members. */
export function responseOf<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object({ responseHeader: RESPONSE_HEADER.optional(), ...shape });
}

export const ERROR_DETAIL = z
  .object({
    position: z.int().optional().meta({ description: 'Position of the document in the request, from 0.' }),
    id: z.string().optional(),
    code: z.enum(ERROR_CODES),
    msg: z.string(),
  })
  .meta({ id: 'ErrorDetail' });

/** The operations of an update by name, one for each document or delete. */
export const ACCEPTED = z.object({ first: z.string(), last: z.string(), count: z.int() });

/** The response of every endpoint to a request that failed. */
export const ERROR_RESPONSE = z
  .object({
    responseHeader: RESPONSE_HEADER.optional(),
    error: z.object({
      code: z.int().meta({ description: 'The HTTP status.' }),
      msg: z.string().meta({ description: 'What is wrong and what to do next.' }),
      metadata: z
        .array(z.string())
        .meta({ description: 'Alternating names and values: `error-class`, then the class.' }),
      details: z.array(ERROR_DETAIL).optional(),
    }),
    operations: ACCEPTED.optional().meta({
      description: 'For an update with pictures that could not be fetched (422): the operations that were accepted.',
    }),
  })
  .meta({ id: 'Error' });

/** A value of a stored document. Longs have up to 19 digits: read them with a parser that keeps them whole. */
const VALUE = z.unknown();

export const DOCUMENT = z
  .record(z.string(), VALUE)
  .meta({ id: 'Document', description: 'Stored fields by name. Ranked searches add `score`, from 0 to 1.' });

/** One accepted change. */
export const OPERATION = z
  .object({
    operation: z.string().meta({ description: '`<collection>-<seq>`', example: 'my-collection-17' }),
    kind: z.enum(['add', 'delete', 'delete-by-query']),
    id: z.string().optional().meta({ description: 'Id of the document that it adds or deletes.' }),
    state: z.enum(['queued', 'analyzing', 'ready', 'visible', 'failed', 'superseded']),
    position: z.int().meta({ description: 'Position of the document or delete in its request, from 0.' }),
    attempt: z.int().meta({ description: 'How many times an analysis of its picture has started.' }),
    acceptedAt: z.string(),
    reason: ERROR_DETAIL.pick({ code: true, msg: true }).optional().meta({ description: 'Why it failed.' }),
  })
  .meta({ id: 'Operation' });

/** State of one collection. */
export const COLLECTION = z
  .object({
    name: z.string(),
    documents: z.int().meta({ description: 'Number of visible documents.' }),
    commit: z.int().meta({ description: 'Number of the last commit.' }),
    committedAt: z.string().nullable().meta({ description: 'When that commit became visible.' }),
    pending: z.int().meta({ description: 'Accepted operations that are not yet visible, failed or superseded.' }),
    failed: z.int().meta({ description: 'Operations that failed, most often because a picture could not be fetched.' }),
    failures: z.record(z.string(), z.int()).meta({ description: 'Failed operations by reason.' }),
    shards: z.int().meta({ description: 'Number of shards.' }),
    bytes: z.int().meta({
      description:
        'Bytes of the visible documents: values of fields, outputs and thumbnails. What the database adds, such as indexes and descriptors, is not included.',
    }),
    modules: z
      .array(z.string())
      .optional()
      .meta({ description: 'The modules that analyze its pictures, if they are not the usual ones.' }),
    maxDocuments: z.int().nullable().meta({ description: 'Quota of documents. Null means no limit.' }),
    maxBytes: z.int().nullable().meta({ description: 'Quota of bytes. Null means no limit.' }),
    model: z
      .object({ name: z.string(), hash: z.string(), words: z.boolean(), vector: z.string().optional() })
      .optional()
      .meta({
        description:
          'Content model of the descriptors. `name`: its word or the name of its folder, as in `PUT ?model=`, if this process has the model. `words`: whether `rank.by.text` works: this process runs the model, and the model has a text encoder. `vector`: which output of the model describes a picture (`projected`, `pooled` or `CLS`), for models in the layout of Hugging Face.',
      }),
  })
  .meta({ id: 'Collection' });

/** A key without its secret. */
export const KEY = z
  .object({
    id: z.string(),
    scope: z.enum(SCOPES),
    note: z.string(),
    collections: z.array(z.string()).nullable().meta({ description: 'Null means all collections.' }),
    origins: z.array(z.string()),
    rate: z.int().nullable(),
    filter: z.string().nullable().meta({ description: 'Null means all documents.' }),
    set: z.array(z.string()),
    createdAt: z.string(),
    expiresAt: z.string().nullable(),
    usedAt: z.string().nullable().meta({ description: 'Rounded to the hour.' }),
  })
  .meta({ id: 'Key' });
