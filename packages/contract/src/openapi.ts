import { z } from 'zod';
import { ERROR_ANSWER } from './common.ts';
import type { Endpoint } from './endpoint.ts';
import { ENDPOINTS } from './endpoints.ts';

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

/**
 * The OpenAPI 3.1 document of all endpoints.
 *
 * @param legacySegment the path segment under which the endpoints are served a second time
 */
export function openApiDocument(options: { version: string; legacySegment: string }): Json {
  const components: Json = {};
  const paths: Record<string, Json> = {};
  for (const [name, endpoint] of Object.entries<Endpoint>(ENDPOINTS)) {
    for (const [suffix, path] of addresses(endpoint, options.legacySegment)) {
      const item = paths[path] ?? {};
      paths[path] = item;
      for (const method of endpoint.methods) {
        item[method.toLowerCase()] = operation(`${name}${suffix}`, method, endpoint, components);
      }
    }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'akin',
      version: options.version,
      description: 'Image-similarity search: store documents with pictures, and find similar ones.',
    },
    paths,
    components: { schemas: components, securitySchemes: SECURITY_SCHEMES },
  };
}

/** The paths of one endpoint, each with what makes its operation ids differ. */
export function addresses(endpoint: Endpoint, legacySegment: string): [suffix: string, path: string][] {
  if (endpoint.under === 'service') return [['', endpoint.path]];
  if (endpoint.under === 'legacy') return [['', `/${legacySegment}${endpoint.path}`]];
  return [
    ['', `/api/cores${endpoint.path}`],
    ['Legacy', `/${legacySegment}${endpoint.path}`],
  ];
}

function operation(id: string, method: string, endpoint: Endpoint, components: Json): Json {
  const parameters = schemaOf(endpoint.parameters, components);
  const properties = (parameters.properties ?? {}) as Record<string, Json>;
  // The shape of what a handler gets lists parameters with a default as required; a client may leave them out.
  const required = new Set((parameters.required ?? []) as string[]);
  const inPath = new Set([...endpoint.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1]));
  const { collection: _, ...form } = properties;
  return {
    operationId: method === 'GET' ? id : `${id}By${method[0]}${method.slice(1).toLowerCase()}`,
    summary: endpoint.summary,
    ...(endpoint.description === undefined ? {} : { description: endpoint.description }),
    // Each alone will do; the list tells the scope that the key must have.
    security:
      endpoint.scope === 'anyone' ? [] : Object.keys(SECURITY_SCHEMES).map((name) => ({ [name]: [endpoint.scope] })),
    parameters: Object.entries(properties).map(([name, { description, ...schema }]) => ({
      name,
      in: inPath.has(name) ? 'path' : 'query',
      required: required.has(name) && !('default' in schema),
      ...(description === undefined ? {} : { description }),
      schema,
    })),
    ...(method === 'POST' || method === 'PUT' ? { requestBody: requestBody(endpoint, form, components) } : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries({ 200: 'Done.', ...endpoint.statuses }).map(([status, description]) => [
          status,
          status === '304' ? { description } : { description, content: answerContent(endpoint, components) },
        ]),
      ),
      default: {
        description: 'Something is wrong. `error.msg` says what to do next.',
        content: { [JSON_TYPE]: { schema: schemaOf(ERROR_ANSWER, components) } },
      },
    },
  };
}

function requestBody(endpoint: Endpoint, form: Record<string, Json>, components: Json): Json {
  const content: Json = {};
  for (const [type, shape] of Object.entries(endpoint.bodies ?? {})) {
    content[type] = { schema: schemaOf(shape, components) };
  }
  content[FORM_TYPE] = { schema: { type: 'object', properties: form } };
  if (endpoint.picture !== undefined) {
    const file = {
      type: 'string',
      format: 'binary',
      description: `A picture, as \`${endpoint.picture}\`. It may repeat.`,
    };
    content['multipart/form-data'] = { schema: { type: 'object', properties: { ...form, file } } };
    for (const type of ['image/*', 'application/octet-stream']) {
      content[type] = {
        schema: { type: 'string', format: 'binary', description: `One picture, as \`${endpoint.picture}\`.` },
      };
    }
  }
  return { required: false, content };
}

function answerContent(endpoint: Endpoint, components: Json): Json {
  if (typeof endpoint.answer !== 'string') {
    const json = { [JSON_TYPE]: { schema: schemaOf(endpoint.answer, components) } };
    return 'wt' in endpoint.parameters.shape ? { ...json, [XML_TYPE]: { schema: { type: 'string' } } } : json;
  }
  return { [endpoint.answer]: { schema: { type: 'string' } } };
}

/** A zod shape as JSON Schema; shapes with an id move to the components and are referred to. */
function schemaOf(shape: z.ZodType, components: Json): Json {
  const { $schema: _, $defs, ...schema } = z.toJSONSchema(shape, { target: 'draft-2020-12' }) as Json;
  for (const [name, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) {
    const { $id: _id, id: __id, ...rest } = definition;
    components[name] = relocate(rest);
  }
  return relocate(schema) as Json;
}

/** Points references to the place where the OpenAPI document keeps its shapes. */
function relocate(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(relocate);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string'
        ? inner.replace('#/$defs/', '#/components/schemas/')
        : relocate(inner),
    ]),
  );
}
