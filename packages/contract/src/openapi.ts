import { z } from 'zod';
import { ERROR_RESPONSE } from './common.ts';
import type { Endpoint } from './endpoint.ts';
import { GROUPS } from './endpoints.ts';

type Json = Record<string, unknown>;

const JSON_TYPE = 'application/json';
const XML_TYPE = 'application/xml';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** The ways to send a key. */
const SECURITY_SCHEMES: Json = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A key: `Authorization: Bearer akin_…`.' },
  header: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
  basic: {
    type: 'http',
    scheme: 'basic',
    description: 'For old clients: any user name, with the key as the password.',
  },
};

/** Errors that every endpoint may return, in addition to `default`. */
const ERRORS: Readonly<Record<string, { name: string; description: string; keyed?: boolean }>> = {
  400: { name: 'BadRequest', description: 'The request is wrong. `error.msg` says why.' },
  401: { name: 'NoKey', description: 'A key is required.', keyed: true },
  403: { name: 'Forbidden', description: 'The key may not do this.', keyed: true },
  404: { name: 'NotFound', description: 'There is no such collection or document.' },
  429: {
    name: 'TooMuch',
    description: 'Too many requests. Nothing of this one was accepted. Try again after `Retry-After` seconds.',
  },
  503: {
    name: 'Unavailable',
    description: 'A service that akin needs does not answer. Try again after `Retry-After` seconds.',
  },
  default: { name: 'Error', description: 'An error. `error.msg` says what to do next.' },
};

/** Components that operations refer to. */
interface Components {
  readonly schemas: Json;
  readonly parameters: Json;
}

/**
 * The OpenAPI 3.1 document of the endpoints below `/api` and of the service, or of those below the legacy segment.
 *
 * @param options.legacySegment the path segment under which the endpoints are served a second time
 * @param options.legacy which of the two documents
 */
export function openApiDocument(options: { version: string; legacySegment: string; legacy?: boolean }): Json {
  const { legacy = false, legacySegment } = options;
  const components: Components = { schemas: {}, parameters: {} };
  const paths: Record<string, Json> = {};
  for (const [tag, { endpoints }] of Object.entries(GROUPS)) {
    for (const [name, endpoint] of Object.entries<Endpoint>(endpoints)) {
      for (const [prefix, path] of addresses(endpoint, legacySegment)) {
        if ((prefix === 'legacy') !== legacy) continue;
        const item = paths[path] ?? {};
        paths[path] = item;
        const id = legacy && endpoint.mount === undefined ? `${name}Legacy` : name;
        for (const method of endpoint.methods) {
          item[method.toLowerCase()] = { tags: [tag], ...operation(name, id, method, endpoint, components) };
        }
      }
    }
  }
  const error = { [JSON_TYPE]: { schema: schemaOf(ERROR_RESPONSE, components) } };
  const responses = Object.values(ERRORS).map(({ name, description }) => [name, { description, content: error }]);
  return {
    openapi: '3.1.1',
    info: {
      title: legacy ? 'akin for clients of Solr and Flow' : 'akin',
      version: options.version,
      description: legacy
        ? `The endpoints below \`/${legacySegment}\`, for old clients. New clients use /openapi.json.`
        : `Image-similarity search: store documents with pictures, and find similar ones. The endpoints below \`/api/cores\` are also served below \`/${legacySegment}\`, as described in /openapi-legacy.json.`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server of this document.' }],
    tags: Object.entries(GROUPS).map(([name, { description }]) => ({ name, description })),
    paths,
    components: { ...components, responses: Object.fromEntries(responses), securitySchemes: SECURITY_SCHEMES },
  };
}

/** The paths of one endpoint. At the root counts as `cores`. */
export function addresses({ mount, path }: Endpoint, legacySegment: string): ['cores' | 'legacy', path: string][] {
  if (mount === 'service') return [['cores', path]];
  const legacy: ['legacy', string] = ['legacy', `/${legacySegment}${path}`];
  return mount === 'legacy' ? [legacy] : [['cores', `/api/cores${path}`], legacy];
}

function descriptionOf({ description, scope, obeysKeyFilter }: Endpoint): { readonly description?: string } {
  const refused = scope === 'anyone' || scope === 'admin' || obeysKeyFilter ? undefined : 'Not for keys with a filter.';
  const sentences = [description, refused].filter((sentence) => sentence !== undefined);
  return sentences.length === 0 ? {} : { description: sentences.join(' ') };
}

function operation(name: string, id: string, method: string, endpoint: Endpoint, components: Components): Json {
  const parameters = schemaOf(endpoint.parameters, components);
  const properties = (parameters.properties ?? {}) as Record<string, Json>;
  // In the shape that a handler gets, parameters with a default are required; a client may leave them out.
  const required = new Set((parameters.required ?? []) as string[]);
  const inPath = new Set([...endpoint.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]));
  const { collection: _, ...form } = properties;
  const errors = Object.entries(ERRORS).filter(([, { keyed }]) => !keyed || endpoint.scope !== 'anyone');
  return {
    operationId: method === 'GET' ? id : `${id}By${method[0]}${method.slice(1).toLowerCase()}`,
    summary: endpoint.summary,
    ...descriptionOf(endpoint),
    // One of them is enough. The list names the scope that the key must have.
    security:
      endpoint.scope === 'anyone'
        ? []
        : Object.keys(SECURITY_SCHEMES).map((scheme) => ({ [scheme]: [endpoint.scope] })),
    parameters: Object.entries(properties).map(([parameter, { description, ...schema }]) =>
      sharedReference(components.parameters, 'parameters', parameter, {
        name: parameter,
        in: inPath.has(parameter) ? 'path' : 'query',
        required: required.has(parameter) && !('default' in schema),
        ...(description === undefined ? {} : { description }),
        schema,
      }),
    ),
    ...(method === 'POST' || method === 'PUT' ? { requestBody: requestBody(name, endpoint, form, components) } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries({ 200: 'Done.', ...endpoint.statuses }).map(([status, description]) => [
          status,
          status === '304' ? { description } : { description, content: responseContent(endpoint, components) },
        ]),
      ),
      ...Object.fromEntries(
        errors.map(([status, error]) => [status, { $ref: `#/components/responses/${error.name}` }]),
      ),
    },
  };
}

/** A reference to a value that many operations contain. Different values under one name are numbered. */
function sharedReference(target: Json, kind: string, name: string, value: Json): Json {
  const text = JSON.stringify(value);
  for (let number = 1; ; number += 1) {
    const key = number === 1 ? name : `${name}-${number}`;
    target[key] ??= value;
    if (JSON.stringify(target[key]) === text) return { $ref: `#/components/${kind}/${key}` };
  }
}

function requestBody(name: string, endpoint: Endpoint, form: Record<string, Json>, components: Components): Json {
  const content: Json = {};
  for (const [type, shape] of Object.entries(endpoint.bodies ?? {})) {
    content[type] = { schema: schemaOf(shape, components) };
  }
  const formName = `${name[0]?.toUpperCase()}${name.slice(1)}Form`;
  const schema = sharedReference(components.schemas, 'schemas', formName, { type: 'object', properties: form });
  content[FORM_TYPE] = { schema };
  if (endpoint.pictureParameter !== undefined) {
    const file = {
      type: 'string',
      format: 'binary',
      description: `A picture, as \`${endpoint.pictureParameter}\`. It may repeat.`,
    };
    content['multipart/form-data'] = { schema: { allOf: [schema, { type: 'object', properties: { file } }] } };
    for (const type of ['image/*', 'application/octet-stream']) {
      content[type] = {
        schema: { type: 'string', format: 'binary', description: `One picture, as \`${endpoint.pictureParameter}\`.` },
      };
    }
  }
  return { required: false, content };
}

function responseContent(endpoint: Endpoint, components: Components): Json {
  if (typeof endpoint.response !== 'string') {
    const json = { [JSON_TYPE]: { schema: schemaOf(endpoint.response, components) } };
    return 'wt' in endpoint.parameters.shape ? { ...json, [XML_TYPE]: { schema: { type: 'string' } } } : json;
  }
  return { [endpoint.response]: { schema: { type: 'string' } } };
}

/** A zod shape as JSON Schema. Shapes with an id move to the components and are referred to. */
function schemaOf(shape: z.ZodType, components: Components): Json {
  const { $schema: _, $defs, ...schema } = z.toJSONSchema(shape, { target: 'draft-2020-12' }) as Json;
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    const { $id: _id, id: __id, ...rest } = definition;
    components.schemas[name] = rewriteReferences(rest);
  }
  return rewriteReferences(schema) as Json;
}

/** Makes references point to where the OpenAPI document keeps its shapes. */
function rewriteReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewriteReferences);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace('#/$defs/', '#/components/schemas/')
        : rewriteReferences(inner),
    ]),
  );
}
