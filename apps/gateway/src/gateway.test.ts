import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { addresses, ENDPOINTS, type Endpoint, ERROR_RESPONSE, MODULE_NAMES } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { MODULES, moduleNames } from '@akin/modules/manifests';
import { describe, expect, it } from '@jest/globals';
import { ANALYZE, echo, echoingGateway } from '../test/echoing-gateway.ts';
import { ask, createGateway, FORM_BODY, type Gateway, JSON_BODY, testConfig } from '../test/start-gateway.ts';

let gateway: Gateway;
const log = echoingGateway((started) => {
  gateway = started;
});

const outputsOf = (response: { json: { outputs: string } }) => JSON.parse(response.json.outputs);

describe('every endpoint', () => {
  it('answers with the header of a successful response', async () => {
    const response = await ask(gateway, `${ANALYZE}?input.url=http%3A%2F%2Fh.example%2Fa.jpg`);
    expect(response.status).toBe(200);
    expect(response.json.responseHeader).toEqual({ status: 0, QTime: expect.any(Number) });
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(outputsOf(response)).toEqual({
      input: 'http://h.example/a.jpg',
      modules: moduleNames,
    });
  });

  it('counts requests by endpoint, and requests without one', async () => {
    const counted: unknown[] = [];
    const request = (endpoint: string, status: number) => counted.push([endpoint, status]);
    const metrics = { request, search: () => {}, text: async () => ({ type: 'text/plain', text: '' }) };
    await using counting = await createGateway(testConfig({ analyze: echo, metrics }));
    const paths = [ANALYZE, '/health/live', '/nowhere', '/api/cores/%E0%A4%A/analyze'];
    for (const path of paths) await ask(counting, path);
    await ask(counting, '/health/live', { headers: { host: 'evil.example' } });
    expect(counted).toEqual([
      ['analyze', 400],
      ['live', 200],
      ['none', 404],
      ['none', 400],
      ['none', 403],
    ]);
  });

  it('refuse an invalid name of a model', async () => {
    const model = (name: string) => ask(gateway, `${ANALYZE}?input.data=aGVsbG8%3D&model=${encodeURIComponent(name)}`);
    expect((await model('akin-1:d52ec204')).status).toBe(200);
    for (const name of ['a b', 'a\n', 'ä', 'x'.repeat(201)]) {
      const { status, json } = await model(name);
      expect([name, status, json.error.msg]).toEqual([name, 400, expect.stringMatching(/^model is .*1 to 200/)]);
    }
  });

  it.each(['/api/cores/c/analyze', '/api/cores/c/analyze/', '/solr/c/analyze', '/solr/c/analyze/'])(
    'answers at %s',
    async (path) => {
      const response = await ask(gateway, `${path}?input.data=aGVsbG8%3D&modules.apply=content`);
      expect(outputsOf(response)).toEqual({ input: 'hello', modules: ['content'] });
    },
  );

  it('accepts parameters from a form, from JSON and from the URL', async () => {
    const form = await ask(gateway, `${ANALYZE}?modules.apply=color`, {
      body: 'input.data=aGVsbG8%3D&logParamsList=',
      headers: FORM_BODY,
    });
    expect(outputsOf(form)).toEqual({ input: 'hello', modules: ['color'] });
    const json = await ask(gateway, ANALYZE, {
      body: '{"input.data":"aGVsbG8=","params":{"modules.apply":"color"}}',
      headers: JSON_BODY,
    });
    expect(outputsOf(json)).toEqual({ input: 'hello', modules: ['color'] });
  });

  it('accepts chunked, gzipped bodies with a charset', async () => {
    const response = await ask(gateway, ANALYZE, {
      body: gzipSync('input.data=aGVsbG8%3D'),
      chunked: true,
      headers: { 'content-type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8', 'content-encoding': 'gzip' },
    });
    expect(outputsOf(response).input).toBe('hello');
  });

  it('indents JSON, omits the header, echoes parameters', async () => {
    const indented = await ask(gateway, `${ANALYZE}?input.data=aGVsbG8%3D&indent=on&omitHeader=True`);
    expect(indented.text).toMatch(/^\{\n {2}"outputs"/);
    expect(indented.json.responseHeader).toBeUndefined();
    const echoed = await ask(gateway, `${ANALYZE}?input.data=aGVsbG8%3D&echoParams=all&x=1&x=2`);
    expect(echoed.json.responseHeader.params).toEqual({
      'input.data': '(8 characters)',
      echoParams: 'all',
      x: ['1', '2'],
    });
  });

  it('names the malformed parameter', async () => {
    const response = await ask(gateway, `${ANALYZE}?input.data=aGVsbG8%3D&indent=perhaps`);
    expect(response.status).toBe(400);
    expect(response.json.error.msg).toContain('Parameter indent must be true or false');
    expect(ERROR_RESPONSE.safeParse(response.json).success).toBe(true);
    expect(response.json.responseHeader.status).toBe(400);
  });

  it('writes an HTML page without scripts, with every value escaped', async () => {
    const evil = encodeURIComponent('http://h.example/"><script>alert(1)</script>');
    const response = await ask(gateway, `${ANALYZE}?input.url=${evil}&wt=html`);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response.headers['content-security-policy']).toContain("default-src 'none'");
    expect(response.text).not.toContain('<script');
    expect(response.text).toContain('&lt;script&gt;');
  });

  it('keeps the request id of the client, unless it is invalid', async () => {
    const kept = await ask(gateway, '/health/live', { headers: { 'x-request-id': 'abc-1' } });
    expect(kept.headers['x-request-id']).toBe('abc-1');
    const odd = await ask(gateway, '/health/live', { headers: { 'x-request-id': '<script>' } });
    expect(odd.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('answers HEAD without a body and OPTIONS with the allowed methods', async () => {
    const head = await ask(gateway, '/health/live', { method: 'HEAD' });
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '16']);
    const options = await ask(gateway, ANALYZE, { method: 'OPTIONS' });
    expect([options.status, options.headers.allow]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
  });

  it('refuses other methods with Allow, and unknown paths, in the format of all errors', async () => {
    const method = await ask(gateway, ANALYZE, { method: 'PATCH' });
    expect([method.status, method.headers.allow]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
    expect(ERROR_RESPONSE.safeParse(method.json).success).toBe(true);
    for (const path of ['/nowhere', '/api/cores/c/nowhere', '/api/cores/c/analyze/x', '/API/cores/c/analyze', '//']) {
      const unknown = await ask(gateway, path);
      expect([path, unknown.status, unknown.json?.error.code]).toEqual([path, 404, 404]);
    }
  });

  it('does not log health checks while the process is healthy', async () => {
    for (const path of ['/health/live', '/metrics']) expect((await ask(gateway, path)).status).toBe(200);
    expect(log.lines).toEqual([]);
  });

  it('logs one line per request, without the picture', async () => {
    await ask(gateway, `${ANALYZE}?modules.apply=color`, { body: 'input.data=aGVsbG8%3D', headers: FORM_BODY });
    expect(log.lines).toEqual([
      {
        level: 'info',
        message: 'request',
        fields: {
          requestId: expect.any(String),
          method: 'POST',
          endpoint: 'analyze',
          collection: 'my-collection',
          parameters: { 'modules.apply': 'color', 'input.data': '(8 characters)' },
          status: 200,
          milliseconds: expect.any(Number),
        },
      },
    ]);
    log.lines.length = 0;
    await ask(gateway, `${ANALYZE}?modules.apply=color&logParamsList=`, {
      body: 'input.data=aGVsbG8%3D',
      headers: FORM_BODY,
    });
    expect(log.lines[0]?.fields).not.toHaveProperty('parameters');
    expect(JSON.stringify(log.lines)).not.toContain('color');
  });

  it('logs an unexpected error, and does not reveal its text', async () => {
    const broken = await createGateway(
      testConfig({ log, analyze: () => Promise.reject(new Error('select secret from /home/user')) }),
    );
    const response = await ask(broken, `${ANALYZE}?input.data=aGVsbG8%3D`);
    await broken[Symbol.asyncDispose]();
    expect(response.status).toBe(500);
    expect(response.text).not.toContain('secret');
    expect(response.json.error.msg).toContain(response.headers['x-request-id']);
    expect(log.lines.find(({ level }) => level === 'error')?.fields.err).toMatchObject({ message: /secret/ });
  });

  it.each([
    ['image-undecodable', 422],
    ['unavailable', 503],
    ['too-many-requests', 429],
  ] as const)('answers %s with %i', async (code, status) => {
    const failing = await createGateway(
      testConfig({ analyze: () => Promise.reject(new AkinError(code, 'Do something else.')) }),
    );
    const response = await ask(failing, `${ANALYZE}?input.data=aGVsbG8%3D`);
    await failing[Symbol.asyncDispose]();
    expect(response.status).toBe(status);
    expect(response.json.error).toEqual({ metadata: ['error-class', code], msg: 'Do something else.', code: status });
    expect('retry-after' in response.headers).toBe(status === 429 || status === 503);
  });
});

describe('the description of the interface', () => {
  it('contains every path that answers, and every path that it contains answers', async () => {
    const described = new Set<string>();
    const documents = await Promise.all(['', '-legacy'].map((which) => ask(gateway, `/openapi${which}.json`)));
    const items = documents.flatMap(({ json }) => Object.entries<Record<string, unknown>>(json.paths));
    for (const [path, item] of items) {
      for (const method of Object.keys(item)) described.add(`${method.toUpperCase()} ${path}`);
    }
    const served = new Set<string>();
    for (const endpoint of Object.values<Endpoint>(ENDPOINTS)) {
      for (const [, path] of addresses(endpoint, 'solr')) {
        const { headers } = await ask(gateway, path.replace(/\{[^}]+\}/g, 'x'), { method: 'OPTIONS' });
        const allowed = (headers.allow ?? '').split(', ').filter((method) => !['HEAD', 'OPTIONS'].includes(method));
        for (const method of allowed) served.add(`${method} ${path}`);
      }
    }
    expect([...served].sort()).toEqual([...described].sort());
  });

  it('names every module', () => {
    expect(MODULE_NAMES.split(',')).toEqual(MODULES.map(({ name }) => name));
  });

  it('is also a page, which needs no network', async () => {
    const page = await ask(gateway, '/docs');
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('GET · POST /api/cores/{collection}/image');
    expect(page.text).toContain('/operations/retry?reason=image-unreachable');
    expect(page.text).not.toMatch(/src="|@import|url\(/);
    const [, script = '', ...more] = page.text.split(/<script>|<\/script>/);
    expect(more).toHaveLength(1);
    const hash = createHash('sha256').update(script).digest('base64');
    expect(page.headers['content-security-policy']).toContain(`script-src 'sha256-${hash}';`);
    const links = [...page.text.matchAll(/href="#(\w+)"/g)].map(([, id]) => id);
    expect(links.length).toBeGreaterThan(30);
    for (const id of links) expect(page.text).toContain(`<section id="${id}">`);
  });

  it('uses the configured legacy segment', async () => {
    const other = await createGateway(testConfig({ analyze: echo, legacySegment: 'flow' }));
    expect((await ask(other, '/flow/c/analyze?input.data=aGVsbG8%3D')).status).toBe(200);
    expect((await ask(other, '/solr/c/analyze?input.data=aGVsbG8%3D')).status).toBe(404);
    expect((await ask(other, '/openapi-legacy.json')).json.paths['/flow/{collection}/analyze']).toBeDefined();
    await other[Symbol.asyncDispose]();
    for (const legacySegment of ['', 'api', 'a/b', ':x', '*']) {
      await expect(createGateway(testConfig({ legacySegment }))).rejects.toMatchObject({
        name: 'AkinError',
        message: expect.stringContaining('legacy segment'),
      });
    }
  });
});

describe('the web page', () => {
  it('is the configured folder; without one / redirects to the docs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'akin-web-'));
    await writeFile(join(folder, 'index.html'), '<h1>akin</h1>');
    await writeFile(join(folder, '.env'), 'secret');
    await mkdir(join(folder, 'assets'));
    await writeFile(join(folder, 'assets/a-1.js'), 'long');
    await writeFile(join(folder, 'assets/a-1.js.gz'), 'small');
    const withPage = await createGateway(testConfig({ webFolder: folder }));
    const page = await ask(withPage, '/?collection=x');
    expect([page.status, page.text]).toEqual([200, '<h1>akin</h1>']);
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
    expect(page.headers['cache-control']).toBe('no-cache');
    const script = await ask(withPage, '/assets/a-1.js', { headers: { 'accept-encoding': 'br, gzip' } });
    expect([script.text, script.headers['content-encoding'], script.headers.vary]).toEqual([
      'small',
      'gzip',
      expect.stringMatching(/accept-encoding/i),
    ]);
    expect(script.headers['content-type']).toMatch(/javascript/);
    expect(script.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const plain = await ask(withPage, '/assets/a-1.js', { headers: { 'accept-encoding': 'gzip;q=0' } });
    expect([plain.text, plain.headers['content-encoding']]).toEqual(['long', undefined]);
    expect((await ask(withPage, '/.env')).status).toBe(404);
    expect((await ask(withPage, '/%2e%2e/package.json')).status).toBe(404);
    await withPage[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
    expect((await ask(gateway, '/')).headers.location).toBe('/docs');
  });
});
