import { ERROR_CODES } from '@akin/domain';
import { z } from 'zod';
import { COLLECTION_PARAMETER, collectionParameters, OPERATION, OPERATION_PARAMETER, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice, integer, text } from '../parameter.ts';

export const operations = endpoint({
  methods: ['GET'],
  scope: 'index',
  obeysKeyFilter: true,
  path: '/{collection}/operations',
  summary: 'List accepted operations in order, with their states.',
  description: 'For a key with a filter: only documents with the fields that it sets which wait or have failed.',
  parameters: collectionParameters({
    state: choice(['queued', 'analyzing', 'ready', 'visible', 'failed', 'superseded'])
      .optional()
      .meta({ description: 'Only operations in this state.' }),
    limit: integer(1, 1000).default(100).meta({ description: 'Maximum number of operations on the page.' }),
    cursor: text().optional().meta({ description: 'The `nextCursor` of the previous page.' }),
  }),
  response: responseOf({ operations: z.array(OPERATION), nextCursor: z.string().optional() }),
});

export const retryOperations = endpoint({
  methods: ['POST'],
  scope: 'index',
  path: '/{collection}/operations/retry',
  summary: 'Retry all failed operations, or those that failed for one reason.',
  parameters: collectionParameters({
    reason: choice([...ERROR_CODES])
      .optional()
      .meta({ description: 'Only operations with this `reason.code`.', example: 'image-unreachable' }),
  }),
  response: responseOf({
    retried: z.int().meta({ description: 'Operations that are being retried.' }),
    superseded: z.int().meta({
      description: 'Operations that are not retried, because a later one has replaced or deleted the document.',
    }),
    conflicting: z.int().meta({
      description:
        'Operations that stay failed, because a later atomic update has already changed the document: send the whole document again.',
    }),
  }),
});

export const operationsStream = endpoint({
  methods: ['GET'],
  scope: 'index',
  path: '/{collection}/operations/stream',
  summary: 'Stream operations when they are finished, as Server-Sent Events.',
  description:
    'The stream has one event `operation` for each operation, in the order of acceptance. An event is sent when its operation and all earlier ones are visible, failed or superseded. The id of the event is the number of the operation. To continue without gaps or repetitions, send the last id as `Last-Event-ID` (browsers do this by themselves) or as `cursor`. Without it, the stream starts with the operations that finish from now on. An operation that failed and is retried is not sent again. An event `status`, without an id, contains the state of the collection when it has changed, at most once a second. A comment every 15 seconds keeps the connection alive. akin closes the connection of a client that does not read for 30 seconds.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    cursor: text()
      .optional()
      .meta({ description: 'Id of the last event that was received. 0 starts from the first operation.' }),
  }),
  response: 'text/event-stream',
});

export const operation = endpoint({
  methods: ['GET'],
  scope: 'index',
  path: '/{collection}/operations/{operation}',
  summary: 'Get one accepted operation and its state.',
  parameters: collectionParameters({ operation: OPERATION_PARAMETER }),
  response: responseOf(OPERATION.shape),
});

export const retryOperation = endpoint({
  methods: ['POST'],
  scope: 'index',
  path: '/{collection}/operations/{operation}/retry',
  summary: 'Retry a failed operation, at its old position in the order.',
  parameters: collectionParameters({ operation: OPERATION_PARAMETER }),
  response: responseOf(OPERATION.shape),
});
