import { z } from 'zod';
import { COLLECTION_PARAMETER } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';

export const operationsStream = endpoint({
  methods: ['GET'],
  scope: 'index',
  mount: 'collections',
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
