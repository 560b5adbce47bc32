import { z } from 'zod';
import { answer, COMMON_PARAMETERS } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { flag, text } from '../parameter.ts';

export const analyze = endpoint({
  methods: ['GET', 'POST'],
  scope: 'index',
  under: 'collections',
  path: '/{collection}/analyze',
  summary: 'Analyze one picture without storing it.',
  description: 'Send `outputs` as the `import` of a document to index it without another analysis.',
  parameters: z.object({
    collection: text().meta({
      description: 'Any name. If there is such a collection, its content model analyzes.',
      example: 'my-collection',
    }),
    'input.url': text().optional().meta({ description: 'URL of the picture, http or https.' }),
    'input.data': text().optional().meta({ description: 'The picture as base64 or data URI. Send it in a form body.' }),
    'input.text': text().optional().meta({
      description:
        'Words instead of a picture. The answer holds outputs of `content` alone, which `rank.by.outputs` takes. Needs a content model with a text tower.',
    }),
    model: text().optional().meta({
      description:
        'Model of `content`, as outputs and the analyzers of a fleet name it (`name:hash`). Default: that of the collection, or of this akin where there is no such collection.',
    }),
    'modules.apply': text().optional().meta({
      description: 'Modules to run, separated by commas: `color,content,copyspace,duplicate`. Default: all.',
    }),
    thumbnail: flag().default(false).meta({
      description: 'Also return a small WebP of the picture, the value for `thumbnail` of a document.',
    }),
    ...COMMON_PARAMETERS,
  }),
  bodies: {
    'application/json': z.record(z.string(), z.unknown()).meta({ description: 'Parameters by name.' }),
  },
  picture: 'input.data',
  answer: answer({
    outputs: z.string().meta({ description: 'A JSON object as text, the value for `import`.' }),
    thumbnail: z.string().optional().meta({ description: 'Base64 of a WebP of at most 256 px, if it was asked for.' }),
  }),
});
