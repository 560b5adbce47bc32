import { z } from 'zod';
import { choice, integer, text } from './parameter.ts';

/** Maximum number of failures that a run lists. */
export const MAX_RUN_FAILURES = 1_000;

const RUN_STATES = ['running', 'paused', 'done', 'failed', 'stopped'] as const;

export const RUN_FAILURE = z.object({
  path: z.string().max(4_096).meta({ description: 'The file.' }),
  code: z
    .string()
    .max(100)
    .meta({ description: 'An error code of akin, `unreadable`, or `absent`: it was named, and is not there.' }),
  msg: z.string().max(1_000).meta({ description: 'What is wrong with it.' }),
});

const count = () => integer(0, 1_000_000_000_000).default(0);

/** What the indexing program reports about its run. */
export const RUN_REPORT = {
  source: text()
    .max(4_096)
    .meta({ description: 'The folders or files that are indexed.', example: '/home/me/Pictures' }),
  state: choice(RUN_STATES),
  total: count().meta({ description: 'Files found so far.' }),
  done: count().meta({ description: 'Files that were indexed.' }),
  unchanged: count().meta({ description: 'Files that were left as they are.' }),
  failed: count().meta({ description: 'Files that could not be indexed.' }),
  secondsLeft: integer(0, 1_000_000_000).optional().meta({ description: 'Estimated time left.' }),
};

const number = () => z.int().min(0);

export const RUN = z
  .object({
    id: z.string(),
    source: z.string(),
    state: z.enum(RUN_STATES).meta({
      description: 'A run is also `stopped` if it was running and has sent no report for a minute.',
    }),
    total: number(),
    done: number(),
    unchanged: number(),
    failed: number(),
    failures: z.array(RUN_FAILURE).max(MAX_RUN_FAILURES),
    failuresMore: number().meta({ description: 'Number of failures that are not listed.' }),
    startedAt: z.string(),
    secondsLeft: number().nullable(),
  })
  .meta({ id: 'Run' });
