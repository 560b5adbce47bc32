import { SCOPES } from '@akin/domain';
import { z } from 'zod';
import { answer, COMMON_PARAMETERS, KEY } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice, text, whole } from '../parameter.ts';

const parameters = z.object({
  scope: choice(SCOPES).meta({
    description:
      '`search`: the search endpoints, without those parameters that let akin fetch an address. `index`: also changes, analyses and exports. `admin`: also collections and keys.',
  }),
  note: text().default('').meta({ description: 'Whose key it is and what for.' }),
  collections: z.array(text()).default([]).meta({
    description: 'Names by comma, or several: the key is for these alone. Default: for all, those to come too.',
  }),
  origins: z.array(text()).default([]).meta({
    description:
      'Origins by comma, or several, as `https://shop.example`: their pages may use the key, and no others. Of keys with the scope `search` alone. Such a key may be seen by everybody; `--address-rate` limits each address that uses it.',
  }),
  rate: whole(1, 1_000_000)
    .optional()
    .meta({ description: 'Most requests a second. Default: what `--key-rate` says.' }),
  expires: text().optional().meta({ description: 'A date or time, or a number of days as `90d`. Default: never.' }),
  ...COMMON_PARAMETERS,
});

export const createKey = endpoint({
  methods: ['POST'],
  scope: 'admin',
  under: 'service',
  path: '/api/keys',
  summary: 'Make a key. The answer holds its text, which is told never again.',
  parameters,
  bodies: { 'application/json': z.looseObject({}).meta({ description: 'The parameters as an object.' }) },
  answer: answer({
    ...KEY.shape,
    key: z.string().meta({ description: 'What clients send: `Authorization: Bearer <key>`.' }),
  }),
  statuses: { 201: 'Made.' },
});
