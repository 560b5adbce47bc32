import { z } from 'zod';
import { ACCEPTED, collectionParameters, DOCUMENT, MODULES_APPLY, responseOf } from './common.ts';
import { flag, integer, limit, text } from './parameter.ts';

/** Parameters of all update endpoints. */
export const UPDATE_PARAMETERS = collectionParameters({
  'modules.apply': MODULES_APPLY,
  commit: flag().default(false).meta({ description: 'Make changes visible before the response.' }),
  openSearcher: flag().default(true).meta({
    description: 'With `commit=true`: false stores the changes durably and leaves them for the next commit.',
  }),
  softCommit: flag().default(false).meta({ description: 'The same as `commit`.' }),
  commitWithin: limit(86_400_000)
    .optional()
    .meta({ description: 'Commit within this many milliseconds. A negative value requests no commit.' }),
  waitSearcher: flag().default(true).meta({ description: 'False sends the response before the commit is visible.' }),
  waitAnalysis: flag().default(false).meta({
    description: 'With a commit: wait for all changes that were accepted before, not only for those of this request.',
  }),
  optimize: flag().default(false).meta({
    description: 'Commit. Clients of Solr send it; akin needs no other optimizing.',
  }),
  async: flag().default(false).meta({
    description: 'Answer 202 with the ids of the operations once they are accepted, without waiting for analysis.',
  }),
  fields: flag().default(false).meta({
    description:
      'Of a picture that is sent with its document: also set the fields that the file tells (size, date, camera, place, title, caption, keywords, rating), except those that the document has.',
  }),
  tombstones: flag().default(true).meta({
    description:
      'False: the deletes of this request leave no tombstones (`/tombstones`). Use it when a program deletes a document because its file is gone.',
  }),
  _version_: text().optional().meta({
    description:
      'Version that the document of each change must have, unless the change has its own `_version_`: a number above 1 is compared; with 1 the document must exist, with a negative number it must not. Otherwise the response is 409.',
  }),
  versions: flag().default(false).meta({ description: 'Return the versions of the added documents, as `adds`.' }),
  maxErrors: integer(-1).optional().meta({
    description:
      'Leave out up to this many documents and deletes that cannot be taken, list them in `responseHeader.errors`, and accept the others; -1: any number. With more, nothing is accepted. Default: nothing is accepted if one cannot be taken. A wrong `_version_` still refuses all.',
    example: 10,
  }),
  'json.command': flag().default(true).meta({
    description: 'Below the legacy segment: false reads a single object as a document, not as commands.',
  }),
});

/** Response of all update endpoints. */
export const UPDATE_RESPONSE = responseOf({
  operations: ACCEPTED.optional().meta({ description: 'The accepted operations, one for each document or delete.' }),
  adds: z
    .array(z.union([z.string(), z.int()]))
    .optional()
    .meta({
      description: 'With `versions=true`: the id of each added document, followed by its version.',
    }),
});

export const UPDATE_STATUSES = { 202: 'Accepted. `operations` names the accepted operations.' } as const;

export const DOCUMENTS = z
  .union([DOCUMENT, z.array(DOCUMENT)])
  .meta({ description: 'A document, or an array of them.' });

/** One or several documents, or one delete. */
const CHANGES = z.union([DOCUMENT, z.array(DOCUMENT), z.object({ delete: z.unknown() })]).meta({
  description:
    'Below `/api/cores`: a document, an array of documents, or a single `delete`. Below the legacy segment: an array of documents, or commands (`add`, `delete`, `commit`, `optimize`). Commands may repeat.',
});

const LINES = z.string().meta({
  description: 'One document per line. Blank lines are skipped. Errors name the line.',
  example: '{"id":"7","labels":["shoe"]}\n{"id":"8"}\n',
});

/** A document with its picture. */
const UPLOAD = z.object({
  document: z.string().meta({ description: 'One document as JSON. `image` is kept as a field and not fetched.' }),
  file: z.string().meta({
    format: 'binary',
    description: 'Its picture. It is analyzed before the document is accepted, and kept as outputs and thumbnail.',
  }),
});

/** JSON in all accepted forms. */
export const JSON_BODIES = {
  'application/json': CHANGES,
  'application/x-ndjson': LINES,
  'application/jsonl': LINES,
  'multipart/form-data': UPLOAD,
};

export const XML_CHANGES = z.string().meta({
  description:
    'Solr commands: `<add>` with `<doc>` and `<field name="…">`, `<delete>` with `<id>` and `<query>`, `<commit/>`, `<optimize/>`. Put several inside `<update>`. The text of a new field decides its type.',
  example: '<add><doc><field name="id">7</field><field name="labels">shoe</field></doc></add>',
});
