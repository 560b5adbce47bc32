import { z } from 'zod';
import { COMMON_PARAMETERS, MODULES_APPLY, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { flag, text } from '../parameter.ts';

export const analyze = endpoint({
  methods: ['GET', 'POST'],
  scope: 'index',
  obeysKeyFilter: true,
  path: '/{collection}/analyze',
  summary: 'Analyze one picture without storing it.',
  description: 'Send `outputs` as the `import` of a document to index it without another analysis.',
  parameters: z.object({
    collection: text().meta({
      description: 'Any name. If a collection has this name, its content model is used.',
      example: 'my-collection',
    }),
    'input.url': text().optional().meta({ description: 'URL of the picture, http or https.' }),
    'input.data': text().optional().meta({ description: 'The picture as base64 or data URI. Send it in a form body.' }),
    'input.region': text().optional().meta({
      description:
        'Analyze only this part of the picture: `x,y,w,h` in fractions of its upright sides, at least 16 pixels a side.',
      example: '0.5,0,0.5,1',
    }),
    'input.text': text().optional().meta({
      description:
        'Words instead of a picture. The response contains only the outputs of `content`, for `rank.by.outputs`. Needs a content model with a text encoder.',
    }),
    model: text().optional().meta({
      description:
        'Content model, as outputs name it (`name:hash`). Default: the model of the collection. If the collection does not exist: the model of `--content-model`.',
    }),
    'modules.apply': MODULES_APPLY,
    'parts.sought': flag().default(false).meta({
      description: '`parts_points` has up to 800 points to search with, instead of the 180 that are stored.',
    }),
    thumbnail: flag().default(false).meta({
      description: 'Also return a small WebP of the picture, the value for `thumbnail` of a document.',
    }),
    fields: flag().default(false).meta({
      description:
        'Also return what the file says about the picture, as fields of a document: size, date, camera, place, title, caption, keywords, rating.',
    }),
    'input.name': text().optional().meta({ description: 'Name of the file, which may contain a date, for `fields`.' }),
    ...COMMON_PARAMETERS,
  }),
  bodies: {
    'application/json': z.record(z.string(), z.unknown()).meta({ description: 'Parameters by name.' }),
  },
  pictureParameter: 'input.data',
  response: responseOf({
    outputs: z.string().meta({ description: 'A JSON object as text, the value for `import`.' }),
    fields: z
      .record(z.string(), z.union([z.string(), z.number()]))
      .optional()
      .meta({ description: 'Fields for the document, if they were asked for.' }),
    thumbnail: z.string().optional().meta({ description: 'Base64 of a WebP of at most 256 px, if it was asked for.' }),
  }),
});
