import { z } from 'zod';
import { collectionParameters, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { integer, text } from '../parameter.ts';

const TOMBSTONE = z
  .object({
    id: z.string(),
    source: z.string().meta({ description: 'The folder.' }),
    path: z.string().meta({ description: 'The path of the file in the folder.' }),
    modified: z.string().meta({ description: 'When the file was last changed.' }),
    bytes: z.int().meta({ description: 'The size of the file.' }),
    hash: z.int().optional().meta({ description: 'The `file_hash` of the document.' }),
  })
  .meta({ id: 'Tombstone' });

export const tombstones = endpoint({
  methods: ['GET'],
  scope: 'index',
  path: '/{collection}/tombstones',
  summary: 'List the files whose documents were deleted on purpose, ordered by id.',
  description:
    'A delete by id or by query leaves a tombstone for each document with the fields `source` (String), `modified` (date) and `bytes` (Long). `akin index` writes these fields. It contains the fields `path` and `file_hash`, too; without a path, the path is the id. A program that indexes the folder skips the file while it has the same content. Storing a document with the same id removes its tombstone. Deleting `*:*` removes all tombstones. A collection keeps the newest 1,000,000.',
  parameters: collectionParameters({
    rows: integer(1, 10_000).default(1_000).meta({ description: 'Maximum number of tombstones on the page.' }),
    cursor: text().optional().meta({ description: 'The `nextCursor` of the previous page.' }),
  }),
  response: responseOf({ tombstones: z.array(TOMBSTONE), nextCursor: z.string().optional() }),
});
