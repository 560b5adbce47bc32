import { z } from 'zod';
import { answer, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice, text } from '../parameter.ts';

export const coreStatus = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  limited: true,
  under: 'legacy',
  path: '/admin/cores',
  summary: 'State of the collections, as old clients ask for it.',
  description: 'A collection that does not exist has an empty state. `/api/cores` creates, drops and tells more.',
  parameters: z.object({
    action: z
      .string()
      .transform((word) => word.toUpperCase())
      .pipe(choice(['STATUS']))
      .default('STATUS')
      .meta({ description: 'Collections are created by PUT and dropped by DELETE of `/api/cores/{collection}`.' }),
    core: text().optional().meta({ description: 'One collection. Default: all.' }),
    ...COMMON_PARAMETERS,
  }),
  answer: answer({
    initFailures: z.object({}),
    status: z.record(
      z.string(),
      z.object({
        name: z.string().optional(),
        index: z
          .object({
            numDocs: z.int(),
            maxDoc: z.int(),
            deletedDocs: z.int(),
            version: z.int(),
            hasDeletions: z.boolean(),
            lastModified: z.string().optional(),
          })
          .optional(),
      }),
    ),
  }),
});
