import { z } from 'zod';
import { COMMON_PARAMETERS, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice, text } from '../parameter.ts';

export const coreStatus = endpoint({
  methods: ['GET', 'POST'],
  scope: 'search',
  filtersCollections: true,
  mount: 'legacy',
  path: '/admin/cores',
  summary: 'Get the state of the collections, in the format that old clients read.',
  description:
    'A collection that does not exist has an empty state. `/api/cores` contains more, and creates and drops collections.',
  parameters: z.object({
    action: z
      .string()
      .transform((word) => word.toUpperCase())
      .pipe(choice(['STATUS']))
      .default('STATUS')
      .meta({
        description: 'Only `STATUS`. PUT and DELETE of `/api/cores/{collection}` create and drop a collection.',
      }),
    core: text().optional().meta({ description: 'One collection. Default: all.' }),
    ...COMMON_PARAMETERS,
  }),
  response: responseOf({
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
