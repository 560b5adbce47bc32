import { describe, expect, it } from '@jest/globals';
import { ENDPOINTS, openApiDocument } from './index.ts';

// biome-ignore lint/suspicious/noExplicitAny: the document is read as any reader of JSON would
type Any = any;

describe('the OpenAPI document', () => {
  const document: Any = openApiDocument({ version: '1.2.3', legacySegment: 'solr' });
  const legacy: Any = openApiDocument({ version: '1.2.3', legacySegment: 'solr', legacy: true });
  const resolve = ({ $ref }: Any, of = document) => {
    const [, , kind, name] = $ref.split('/');
    return of.components[kind][name];
  };

  it('lists every endpoint, and those of old clients in a separate document', () => {
    expect(document.openapi).toBe('3.1.1');
    expect(document.paths['/api/cores/{collection}/image'].post.operationId).toBe('imageByPost');
    expect(legacy.paths['/solr/{collection}/image'].get.operationId).toBe('imageLegacy');
    expect(Object.keys(document.paths).filter((path) => path.startsWith('/solr'))).toEqual([]);
    expect(Object.keys(legacy.paths).filter((path) => !/^\/solr(\/|$)/.test(path))).toEqual([]);
    expect(document.paths['/health/ready'].get).toBeDefined();
    expect(Object.keys(document.paths['/api/cores/{collection}']).sort()).toEqual(['delete', 'get', 'put']);
  });

  it('gives every operation a unique id', () => {
    const operations = [document, legacy].flatMap(({ paths }) => Object.values<Any>(paths).flatMap(Object.values<Any>));
    const ids = operations.map(({ operationId }) => operationId);
    const tags = document.tags.map(({ name }: Any) => name);
    for (const operation of operations) expect(tags).toContain(operation.tags[0]);
    expect(new Set(operations.map((operation) => operation.tags[0])).size).toBe(tags.length);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(Object.keys(ENDPOINTS).length);
  });

  it('describes the type, range and default of parameters, and which are required', () => {
    const parameters = document.paths['/api/cores/{collection}/select'].get.parameters.map((one: Any) =>
      resolve(one),
    ) as Any[];
    const named = (name: string) => parameters.find((parameter) => parameter.name === name);
    expect(named('rows')).toMatchObject({
      in: 'query',
      required: false,
      schema: { type: 'integer', minimum: 0, maximum: 1000, default: 10 },
    });
    expect(named('collection')).toMatchObject({ in: 'path', required: true });
    expect(named('fq').schema).toMatchObject({ type: 'array', items: { type: 'string' } });
    const thumbnail = document.paths['/api/cores/{collection}/thumbnail'].get.parameters.map((one: Any) =>
      resolve(one),
    ) as Any[];
    expect(thumbnail.find((parameter) => parameter.name === 'id').required).toBe(true);
  });

  it('describes form bodies with the same parameters', () => {
    const body = document.paths['/api/cores/{collection}/analyze'].post.requestBody.content;
    const { properties } = resolve(body['application/x-www-form-urlencoded'].schema);
    expect(properties['input.data'].type).toBe('string');
    expect(properties.collection).toBeUndefined();
  });

  it('says which bodies and responses may be XML', () => {
    const update = legacy.paths['/solr/{collection}/update'].post;
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

  it('says how a key is sent and which scope it must have', () => {
    expect(Object.keys(document.components.securitySchemes)).toEqual(['bearer', 'header', 'basic']);
    const security = (path: string, method: string) => (document.paths[path] ?? legacy.paths[path])[method].security;
    expect(security('/solr/{collection}/update', 'post')).toEqual([
      { bearer: ['index'] },
      { header: ['index'] },
      { basic: ['index'] },
    ]);
    expect(security('/api/cores/{collection}/image', 'get')[0]).toEqual({ bearer: ['search'] });
    expect(security('/api/keys', 'post')[0]).toEqual({ bearer: ['admin'] });
    expect(security('/health/live', 'get')).toEqual([]);
  });

  it('contains everything that it refers to, and repeats nothing', () => {
    for (const one of [document, legacy]) {
      const text = JSON.stringify(one);
      const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference);
      expect(references.length).toBeGreaterThan(100);
      for (const $ref of references) expect([$ref, resolve({ $ref }, one)]).toEqual([$ref, expect.anything()]);
      expect(text).not.toContain('$defs');
      expect(text).toContain('#/components/schemas/Error"');
    }
  });

  it('names the errors of every endpoint', () => {
    const { responses } = document.paths['/api/cores/{collection}/image'].get;
    expect(Object.keys(responses)).toEqual(['200', '400', '401', '403', '404', '429', '503', 'default']);
    expect(resolve(responses['429']).description).toContain('Retry-After');
    expect(Object.keys(document.paths['/health/live'].get.responses)).not.toContain('401');
  });
});
