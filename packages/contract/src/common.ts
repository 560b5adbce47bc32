import { ERROR_CODES, SCOPES } from '@akin/domain';
import { z } from 'zod';
import { choice, flag, text } from './parameter.ts';

/** Parameters that every JSON endpoint takes: they shape the answer, not what is in it. */
export const COMMON_PARAMETERS = {
  wt: text().optional().meta({
    description:
      'How the answer is written: `json`, `xml` as Solr does, or `html` for a page with pictures. Anything else is json.',
  }),
  indent: flag().default(false).meta({ description: 'Lay the JSON out over lines.' }),
  omitHeader: flag().default(false).meta({ description: 'Leave out `responseHeader`.' }),
  echoParams: choice(['none', 'explicit', 'all'])
    .default('none')
    .meta({ description: 'Repeat the parameters in `responseHeader.params`; image data is abridged.' }),
  logParamsList: text().optional().meta({
    description: 'Comma list of the parameters that may stand in the log. Sent empty: none does.',
  }),
};

/** Parameters of reads that must see what an update did. */
export const AFTER_PARAMETERS = {
  after: text().optional().meta({
    description:
      'The `responseHeader.token` of an update: the answer waits until those operations are visible, failed or superseded.',
  }),
};

export const COLLECTION_PARAMETER = text().meta({ description: 'Name of the collection.', example: 'my-collection' });

/** The first member of every JSON answer. */
export const RESPONSE_HEADER = z
  .looseObject({
    status: z.int().meta({ description: '0 on success, else the HTTP status.' }),
    QTime: z.int().meta({ description: 'Milliseconds that the answer took.' }),
    params: z.record(z.string(), z.unknown()).optional(),
    warnings: z.array(z.string()).optional(),
    ranking: z.enum(['exact', 'approximate']).optional().meta({
      description: 'Of ranked searches: whether the page is what comparing every match would give.',
    }),
    distances: z
      .int()
      .optional()
      .meta({ description: 'Of ranked searches: how many descriptors were compared, about.' }),
  })
  .meta({ id: 'ResponseHeader' });

/** An answer of several members behind a header, which `omitHeader` leaves out. */
export function answer<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.object({ responseHeader: RESPONSE_HEADER.optional(), ...shape });
}

export const ERROR_DETAIL = z
  .object({
    position: z.int().optional().meta({ description: 'Which document of the request, counted from 0.' }),
    id: z.string().optional(),
    code: z.enum(ERROR_CODES),
    msg: z.string(),
  })
  .meta({ id: 'ErrorDetail' });

/** The operations that an update made, by their names: one for each document or delete. */
export const ACCEPTED = z.object({ first: z.string(), last: z.string(), count: z.int() });

/** What every endpoint answers when something is wrong. */
export const ERROR_ANSWER = z
  .object({
    responseHeader: RESPONSE_HEADER.optional(),
    error: z.object({
      code: z.int().meta({ description: 'The HTTP status.' }),
      msg: z.string().meta({ description: 'What is wrong and what to do next.' }),
      metadata: z.array(z.string()).meta({ description: 'Names and values in turn: `error-class`, then the class.' }),
      details: z.array(ERROR_DETAIL).optional(),
    }),
    operations: ACCEPTED.optional().meta({
      description: 'Of an update with pictures that could not be had (422): what was accepted all the same.',
    }),
  })
  .meta({ id: 'Error' });

/** A value of a stored document. Longs have up to 19 digits: read them with a parser that keeps them whole. */
const VALUE = z.unknown();

export const DOCUMENT = z
  .record(z.string(), VALUE)
  .meta({ id: 'Document', description: 'Stored fields by name; on ranked searches also `score`, 0 to 1.' });

/** One accepted change. */
export const OPERATION = z
  .object({
    operation: z.string().meta({ description: '`<collection>-<seq>`', example: 'my-collection-17' }),
    kind: z.enum(['add', 'delete', 'delete-by-query']),
    id: z.string().optional().meta({ description: 'The document that it adds or deletes.' }),
    state: z.enum(['queued', 'analyzing', 'ready', 'visible', 'failed', 'superseded']),
    position: z.int().meta({ description: 'Of the document or delete within its request, from 0.' }),
    attempt: z.int().meta({ description: 'How often an analysis of its picture began.' }),
    acceptedAt: z.string(),
    reason: ERROR_DETAIL.pick({ code: true, msg: true }).optional().meta({ description: 'Why it failed.' }),
  })
  .meta({ id: 'Operation' });

/** State of one collection. */
export const COLLECTION = z
  .object({
    name: z.string(),
    documents: z.int().meta({ description: 'Documents that a search sees.' }),
    commit: z.int().meta({ description: 'Number of the commit that searches answer from.' }),
    committedAt: z.string().nullable().meta({ description: 'When that commit became visible.' }),
    pending: z.int().meta({ description: 'Accepted operations that are not yet visible, failed or superseded.' }),
    failed: z.int().meta({ description: 'Operations that failed, most often because a picture could not be had.' }),
    failures: z.record(z.string(), z.int()).meta({ description: 'How many of them failed for which reason.' }),
  })
  .meta({ id: 'Collection' });

/** A key without its secret. */
export const KEY = z
  .object({
    id: z.string(),
    scope: z.enum(SCOPES),
    note: z.string(),
    collections: z.array(z.string()).nullable().meta({ description: 'Null: all.' }),
    origins: z.array(z.string()),
    rate: z.int().nullable(),
    createdAt: z.string(),
    expiresAt: z.string().nullable(),
    usedAt: z.string().nullable().meta({ description: 'To the hour.' }),
  })
  .meta({ id: 'Key' });
