import { z } from 'zod';
import { COLLECTION_PARAMETER } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { text } from '../parameter.ts';

export const operationsStream = endpoint({
  methods: ['GET'],
  scope: 'index',
  under: 'collections',
  path: '/{collection}/operations/stream',
  summary: 'Changes as they are settled, for pipelines: Server-Sent Events.',
  description:
    'An event `operation` for each change, in the order in which they were accepted, as soon as it and all before it are visible, failed or superseded; its id is the number of the change. Send the last one as `Last-Event-ID` (browsers do by themselves) or as `cursor`, and nothing is left out or comes twice; without, it begins with what is settled from now on. A change that failed and is tried again does not come a second time. An event `status`, without an id, tells the state of the collection whenever that changed, at most once a second. A comment keeps the connection alive every 15 seconds. Whoever does not read for half a minute is let go.',
  parameters: z.object({
    collection: COLLECTION_PARAMETER,
    cursor: text()
      .optional()
      .meta({ description: 'The id of the last event that was seen; 0 for all from the start.' }),
  }),
  answer: 'text/event-stream',
});
