import { z } from 'zod';
import { ACCEPTED, answer, COLLECTION_PARAMETER, COMMON_PARAMETERS, DOCUMENT } from './common.ts';
import { flag, limit, text } from './parameter.ts';

/** What an update of any endpoint takes. */
export const UPDATE_PARAMETERS = z.object({
  collection: COLLECTION_PARAMETER,
  'modules.apply': text().optional().meta({
    description: 'Modules that analyze the pictures, by comma: `color,content,copyspace,duplicate`. Default all.',
    example: 'content',
  }),
  commit: flag().default(false).meta({ description: 'Make changes visible before the answer.' }),
  openSearcher: flag().default(true).meta({
    description: 'With `commit=true`: false leaves the changes, durable, for the next commit.',
  }),
  softCommit: flag().default(false).meta({ description: 'The same as `commit`.' }),
  commitWithin: limit(86_400_000)
    .optional()
    .meta({ description: 'Commit within so many milliseconds; negative for not at all.' }),
  waitSearcher: flag().default(true).meta({ description: 'False answers before the commit is visible.' }),
  waitAnalysis: flag().default(false).meta({
    description: 'With a commit: wait for all that was accepted before, not for this request alone.',
  }),
  optimize: flag().default(false).meta({
    description:
      'Commits, and has the cells of a large collection made anew in the background, so that ranked searches are as quick and right as can be after much has changed.',
  }),
  async: flag().default(false).meta({
    description: 'Answer 202 with the ids of the operations once they are accepted, without waiting for analysis.',
  }),
  'json.command': flag().default(true).meta({
    description: 'Below the legacy segment: false takes a lone object as a document, not as commands.',
  }),
  ...COMMON_PARAMETERS,
});

/** What an update of any endpoint answers. */
export const UPDATE_ANSWER = answer({
  operations: ACCEPTED.optional().meta({ description: 'The accepted operations: one for each document or delete.' }),
});

export const UPDATE_STATUSES = { 202: 'Accepted; `operations` names what was.' } as const;

export const DOCUMENTS = z
  .union([DOCUMENT, z.array(DOCUMENT)])
  .meta({ description: 'A document, or an array of them.' });

/** One or several documents, or one delete. */
export const CHANGES = z.union([DOCUMENT, z.array(DOCUMENT), z.object({ delete: z.unknown() })]).meta({
  description:
    'Below `/api/cores`: a document, an array of documents, or a lone `delete`. Below the legacy segment: an array of documents, or commands (`add`, `delete`, `commit`, `optimize`), which may repeat.',
});

export const XML_CHANGES = z.string().meta({
  description:
    'Commands of Solr: `<add>` with `<doc>` and `<field name="…">`, `<delete>` with `<id>` and `<query>`, `<commit/>`, `<optimize/>`; several inside `<update>`. A field that is new gets the type that its text has.',
  example: '<add><doc><field name="id">7</field><field name="labels">shoe</field></doc></add>',
});
