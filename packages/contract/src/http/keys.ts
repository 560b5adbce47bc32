import { SCOPES } from '@akin/domain';
import { z } from 'zod';
import { COMMON_PARAMETERS, KEY, responseOf } from '../common.ts';
import { endpoint } from '../endpoint.ts';
import { choice, integer, text, texts } from '../parameter.ts';

export const keys = endpoint({
  methods: ['GET'],
  scope: 'admin',
  mount: 'service',
  path: '/api/keys',
  summary: 'List all keys without their secrets, oldest first.',
  parameters: z.object(COMMON_PARAMETERS),
  response: responseOf({ keys: z.array(KEY) }),
});

const parameters = z.object({
  scope: choice(SCOPES).meta({
    description:
      '`search`: the search endpoints, without the parameters that make akin fetch a URL. `index`: also changes, analyses and exports. `admin`: also collections and keys.',
  }),
  note: text().default('').meta({ description: 'Owner and purpose of the key.' }),
  collections: texts().meta({
    description:
      'The only collections that the key may use, separated by commas or as several values. Default: all, including future ones.',
  }),
  origins: texts().meta({
    description:
      'The only origins whose pages may use the key, for example `https://shop.example`, separated by commas or as several values. Only for keys with the scope `search`. Such a key is public: `--address-rate` limits each address that uses it.',
  }),
  rate: integer(1, 1_000_000)
    .optional()
    .meta({ description: 'Maximum number of requests per second. Default: the value of `--key-rate`.' }),
  expires: text()
    .optional()
    .meta({ description: 'A date, a time, or a number of days such as `90d`. Default: never.' }),
  filter: text().optional().meta({
    description:
      'A query. The key sees only documents that match it, and may call only endpoints that keep to that. Not for the scope `admin`. Default: all documents.',
    example: 'tenant:a',
  }),
  set: texts().meta({
    description:
      'With `filter` and the scope `index`: a field that each document that the key writes gets, as `field=value`. Repeatable. Such documents must match the filter, whatever else they contain. Without it the key may not write.',
    example: ['tenant=a'],
  }),
  ...COMMON_PARAMETERS,
});

export const createKey = endpoint({
  methods: ['POST'],
  scope: 'admin',
  mount: 'service',
  path: '/api/keys',
  summary: 'Create a key. Only this response contains its text.',
  parameters,
  bodies: { 'application/json': z.looseObject({}).meta({ description: 'The parameters as an object.' }) },
  response: responseOf({
    ...KEY.shape,
    key: z.string().meta({ description: 'The text that clients send: `Authorization: Bearer <key>`.' }),
  }),
  statuses: { 201: 'Created.' },
});

export const revokeKey = endpoint({
  methods: ['DELETE'],
  scope: 'admin',
  mount: 'service',
  path: '/api/keys/{id}',
  summary: 'Revoke a key permanently. All gateways refuse it within a few seconds.',
  parameters: z.object({
    id: text().meta({ description: 'Id of the key, from the list of keys.' }),
    ...COMMON_PARAMETERS,
  }),
  response: responseOf({}),
});
