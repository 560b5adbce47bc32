import { describe, expect, it } from '@jest/globals';
import { ENDPOINTS, openApiDocument } from './index.ts';

// biome-ignore lint/suspicious/noExplicitAny: the document is read as any reader of JSON would
type Any = any;

describe('the OpenAPI document', () => {
  const document: Any = openApiDocument({ version: '1.2.3', legacySegment: 'solr' });

  it('lists every endpoint below both prefixes', () => {
    expect(document.openapi).toBe('3.1.1');
    expect(document.paths['/api/cores/{collection}/image'].post.operationId).toBe('imageByPost');
    expect(document.paths['/solr/{collection}/image'].get.operationId).toBe('imageLegacy');
    expect(document.paths['/health/ready'].get).toBeDefined();
    expect(Object.keys(document.paths['/api/cores/{collection}']).sort()).toEqual(['delete', 'get', 'put']);
  });

  it('gives every operation an id of its own', () => {
    const ids = Object.values<Any>(document.paths).flatMap((item) =>
      Object.values<Any>(item).map((operation) => operation.operationId),
    );
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(Object.keys(ENDPOINTS).length);
  });

  it('tells the type, range and default of parameters, and which are required', () => {
    const parameters = document.paths['/api/cores/{collection}/select'].get.parameters as Any[];
    const named = (name: string) => parameters.find((parameter) => parameter.name === name);
    expect(named('rows')).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 0, maximum: 1000, default: 10 },
    });
    expect(named('collection')).toMatchObject({ in: 'path', required: true });
    expect(named('fq').schema).toMatchObject({ type: 'array', items: { type: 'string' } });
    const thumbnail = document.paths['/api/cores/{collection}/thumbnail'].get.parameters as Any[];
    expect(thumbnail.find((parameter) => parameter.name === 'id').required).toBe(true);
  });

  it('describes form bodies with the same parameters', () => {
    const body = document.paths['/api/cores/{collection}/analyze'].post.requestBody.content;
    expect(body['application/x-www-form-urlencoded'].schema.properties['input.data'].type).toBe('string');
    expect(body['application/x-www-form-urlencoded'].schema.properties.collection).toBeUndefined();
  });

  it('tells which bodies and answers may be XML', () => {
    const update = document.paths['/solr/{collection}/update'].post;
    expect(Object.keys(update.requestBody.content)).toEqual([
      'application/json',
      'application/x-ndjson',
      'application/jsonl',
      'multipart/form-data',
      'application/xml',
      'application/x-www-form-urlencoded',
    ]);
    expect(Object.keys(update.responses['200'].content)).toEqual(['application/json', 'application/xml']);
    expect(Object.keys(document.paths['/health/live'].get.responses['200'].content)).toEqual(['application/json']);
  });

  it('tells how a key is sent and which scope it must have', () => {
    expect(Object.keys(document.components.securitySchemes)).toEqual(['bearer', 'header', 'basic']);
    const security = (path: string, method: string) => document.paths[path][method].security;
    expect(security('/solr/{collection}/update', 'post')).toEqual([
      { bearer: ['index'] },
      { header: ['index'] },
      { basic: ['index'] },
    ]);
    expect(security('/api/cores/{collection}/image', 'get')[0]).toEqual({ bearer: ['search'] });
    expect(security('/api/keys', 'post')[0]).toEqual({ bearer: ['admin'] });
    expect(security('/health/live', 'get')).toEqual([]);
  });

  it('refers only to shapes that it holds', () => {
    const text = JSON.stringify(document);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      expect(document.components.schemas[name as string]).toBeDefined();
    }
    expect(text).not.toContain('$defs');
    expect(text).toContain('#/components/schemas/Error"');
  });
});
