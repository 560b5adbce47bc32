import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { addresses, ENDPOINTS, type Endpoint, ERROR_ANSWER } from '@akin/contract';
import { AkinError } from '@akin/domain';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, createGateway, FORM_BODY, type Gateway, JSON_BODY, testConfig, testLog } from '../test/start-gateway.ts';
import type { AnalyzeImage, GatewayConfig } from './config.ts';

/** Answers with what it was asked, so that tests see what reached it. */
const echo: AnalyzeImage = async (input, modules) => ({
  outputs: JSON.stringify({ input: 'url' in input ? input.url : Buffer.from(input.bytes).toString(), modules }),
});

let gateway: Gateway;
const log = testLog();

beforeAll(async () => {
  gateway = await createGateway(testConfig({ analyze: echo, log, corsOrigins: ['https://shop.example'] }));
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
});
afterEach(() => {
  log.lines.length = 0;
});

const ANALYZE = '/api/cores/my-collection/analyze';
const outputsOf = (answer: { json: { outputs: string } }) => JSON.parse(answer.json.outputs);

describe('the frame of every endpoint', () => {
  it('answers with the header of a good answer', async () => {
    const answer = await ask(gateway, `${ANALYZE}?input.url=http%3A%2F%2Fh.example%2Fa.jpg`);
    expect(answer.status).toBe(200);
    expect(answer.json.responseHeader).toEqual({ status: 0, QTime: expect.any(Number) });
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    expect(outputsOf(answer)).toEqual({
      input: 'http://h.example/a.jpg',
      modules: ['color', 'content', 'copyspace', 'duplicate'],
    });
  });

  it('counts requests by endpoint, and those that came to none', async () => {
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

  it.each(['/api/cores/c/analyze', '/api/cores/c/analyze/', '/solr/c/analyze', '/solr/c/analyze/'])(
    'answers at %s',
    async (path) => {
      const answer = await ask(gateway, `${path}?input.data=aGVsbG8%3D&modules.apply=content`);
      expect(outputsOf(answer)).toEqual({ input: 'hello', modules: ['content'] });
    },
  );

  it('takes parameters from a form, from JSON and from the address alike', async () => {
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

  it('takes chunked, gzipped bodies with a charset', async () => {
    const answer = await ask(gateway, ANALYZE, {
      body: gzipSync('input.data=aGVsbG8%3D'),
      chunked: true,
      headers: { 'content-type': 'Application/X-WWW-Form-Urlencoded; charset=UTF-8', 'content-encoding': 'gzip' },
    });
    expect(outputsOf(answer).input).toBe('hello');
  });

  it('takes base64 as it arrives in practice: data URIs of the wrong type, blanks for plus, line breaks', async () => {
    const bytes = Buffer.from('>>>???~~~', 'latin1');
    const base64 = bytes.toString('base64');
    expect(base64).toContain('+');
    for (const text of [base64, `data:image/jpeg;base64,${base64}`, `${base64.slice(0, 4)}\n${base64.slice(4)}`]) {
      const answer = await ask(gateway, ANALYZE, { body: `input.data=${text}`, headers: FORM_BODY });
      expect([answer.status, answer.json.outputs && outputsOf(answer).input]).toEqual([200, '>>>???~~~']);
    }
  });

  it('lays JSON out, leaves the header out, echoes parameters', async () => {
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
    const answer = await ask(gateway, `${ANALYZE}?input.data=aGVsbG8%3D&indent=perhaps`);
    expect(answer.status).toBe(400);
    expect(answer.json.error.msg).toContain('Parameter indent must be true or false');
    expect(ERROR_ANSWER.safeParse(answer.json).success).toBe(true);
    expect(answer.json.responseHeader.status).toBe(400);
  });

  it('says which parser to set instead of javabin', async () => {
    const answer = await ask(gateway, `${ANALYZE}?input.data=aGVsbG8%3D&wt=javabin`);
    expect([answer.status, answer.json.error.msg]).toEqual([400, expect.stringContaining('new XMLResponseParser()')]);
  });

  it('writes a page without any script, with every value escaped', async () => {
    const evil = encodeURIComponent('http://h.example/"><script>alert(1)</script>');
    const answer = await ask(gateway, `${ANALYZE}?input.url=${evil}&wt=html`);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
    expect(answer.text).not.toContain('<script');
    expect(answer.text).toContain('&lt;script&gt;');
  });

  it('keeps the id of a request that is sent, unless it is odd', async () => {
    const kept = await ask(gateway, '/health/live', { headers: { 'x-request-id': 'abc-1' } });
    expect(kept.headers['x-request-id']).toBe('abc-1');
    const odd = await ask(gateway, '/health/live', { headers: { 'x-request-id': '<script>' } });
    expect(odd.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('answers HEAD without a body and OPTIONS with what is allowed', async () => {
    const head = await ask(gateway, '/health/live', { method: 'HEAD' });
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '16']);
    const options = await ask(gateway, ANALYZE, { method: 'OPTIONS' });
    expect([options.status, options.headers.allow]).toEqual([204, 'GET, HEAD, POST, OPTIONS']);
  });

  it('refuses other methods with Allow, and unknown addresses, in the shape of all errors', async () => {
    const method = await ask(gateway, ANALYZE, { method: 'PATCH' });
    expect([method.status, method.headers.allow]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
    expect(ERROR_ANSWER.safeParse(method.json).success).toBe(true);
    for (const path of ['/nowhere', '/api/cores/c/nowhere', '/api/cores/c/analyze/x', '/API/cores/c/analyze', '//']) {
      const unknown = await ask(gateway, path);
      expect([path, unknown.status, unknown.json?.error.code]).toEqual([path, 404, 404]);
    }
  });

  it('writes no line for those who ask whether the process is well, as long as it is', async () => {
    for (const path of ['/health/live', '/metrics']) expect((await ask(gateway, path)).status).toBe(200);
    expect(log.lines).toEqual([]);
  });

  it('writes one line a request, with nothing of the picture in it', async () => {
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

  it('lets no text of an unexpected error out, and logs it', async () => {
    const broken = await createGateway(
      testConfig({ log, analyze: () => Promise.reject(new Error('select secret from /home/user')) }),
    );
    const answer = await ask(broken, `${ANALYZE}?input.data=aGVsbG8%3D`);
    await broken[Symbol.asyncDispose]();
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain('secret');
    expect(answer.json.error.msg).toContain(answer.headers['x-request-id']);
    expect(log.lines.find(({ level }) => level === 'error')?.fields.err).toMatchObject({ message: /secret/ });
  });

  it.each([
    ['unsupported-image', 415],
    ['image-unreachable', 422],
    ['image-undecodable', 422],
    ['too-large', 413],
    ['unavailable', 503],
    ['too-many-requests', 429],
  ] as const)('answers %s with %i', async (code, status) => {
    const failing = await createGateway(
      testConfig({ analyze: () => Promise.reject(new AkinError(code, 'Do something else.')) }),
    );
    const answer = await ask(failing, `${ANALYZE}?input.data=aGVsbG8%3D`);
    await failing[Symbol.asyncDispose]();
    expect(answer.status).toBe(status);
    expect(answer.json.error).toEqual({ metadata: ['error-class', code], msg: 'Do something else.', code: status });
    expect('retry-after' in answer.headers).toBe(status === 429 || status === 503);
  });
});

describe('the description of the interface', () => {
  it('names every address that answers, and every address that it names answers', async () => {
    const { json: document } = await ask(gateway, '/openapi.json');
    const described = new Set<string>();
    for (const [path, item] of Object.entries<Record<string, unknown>>(document.paths)) {
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

  it('is a page too, which needs no network', async () => {
    const page = await ask(gateway, '/docs');
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('GET · POST /api/cores/{collection}/image');
    expect(page.text).not.toMatch(/<script|src="http/);
    const links = [...page.text.matchAll(/href="#(\w+)"/g)].map(([, id]) => id);
    expect(links.length).toBeGreaterThan(30);
    for (const id of links) expect(page.text).toContain(`<h2 id="${id}">`);
  });

  it('follows the name of the legacy segment', async () => {
    const other = await createGateway(testConfig({ analyze: echo, legacySegment: 'flow' }));
    expect((await ask(other, '/flow/c/analyze?input.data=aGVsbG8%3D')).status).toBe(200);
    expect((await ask(other, '/solr/c/analyze?input.data=aGVsbG8%3D')).status).toBe(404);
    expect((await ask(other, '/openapi.json')).json.paths['/flow/{collection}/analyze']).toBeDefined();
    await other[Symbol.asyncDispose]();
    for (const legacySegment of ['', 'api', 'a/b', ':x', '*']) {
      await expect(createGateway(testConfig({ legacySegment }))).rejects.toThrow('legacy segment');
    }
  });
});

describe('safety', () => {
  it.each(['0.0.0.0', '::', '192.0.2.1', ''])('refuses to listen on %p without keys', async (host) => {
    await expect(createGateway(testConfig({ host }))).rejects.toThrow('keys create --scope admin');
  });

  it('listens there when told so in so many words', async () => {
    const open = await createGateway(testConfig({ host: '0.0.0.0', allowOpenNetwork: true }));
    expect((await ask(open, '/health/live', { headers: { host: 'anything.example' } })).status).toBe(200);
    await open[Symbol.asyncDispose]();
  });

  it('refuses a Host of another machine, and none at all', async () => {
    const answer = await ask(gateway, '/health/live', { headers: { host: 'evil.example' } });
    expect([answer.status, answer.json.error.code]).toEqual([403, 403]);
    expect(await raw(gateway, 'GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1.1 403/);
  });

  it('refuses bodies from pages of other origins, and lets named ones in', async () => {
    const send = (headers: Record<string, string>) =>
      ask(gateway, ANALYZE, { body: 'input.data=aGVsbG8%3D', headers: { ...FORM_BODY, ...headers } });
    expect((await send({ origin: 'https://evil.example' })).status).toBe(403);
    expect((await send({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await send({ origin: gateway.url, host: new URL(gateway.url).host })).status).toBe(200);
    const named = await send({ origin: 'https://shop.example' });
    expect([named.status, named.headers['access-control-allow-origin']]).toEqual([200, 'https://shop.example']);
  });

  it('tells named origins alone what they may do', async () => {
    const preflight = (origin: string) =>
      ask(gateway, ANALYZE, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });
    expect((await preflight('https://shop.example')).headers).toMatchObject({
      'access-control-allow-origin': 'https://shop.example',
      'access-control-allow-methods': 'GET, POST, PUT, DELETE',
      vary: 'Origin',
    });
    expect((await preflight('https://evil.example')).headers).not.toHaveProperty('access-control-allow-origin');
  });

  it('refuses a GET of another site where a GET can change something', async () => {
    const answer = await ask(gateway, '/api/cores/c/update?commit=true', {
      headers: { 'sec-fetch-site': 'cross-site' },
    });
    expect(answer.status).toBe(403);
  });
});

describe('hostile requests', () => {
  const small: GatewayConfig['limits'] = {
    parameterBytes: 2000,
    parameters: 50,
    parameterLength: 500,
    bodyIdleMilliseconds: 200,
  };
  let strict: Gateway;
  beforeAll(async () => {
    strict = await createGateway(testConfig({ analyze: echo, limits: small }));
  });
  afterAll(async () => {
    await strict[Symbol.asyncDispose]();
  });

  it.each([
    ['no content type', {}, 415],
    ['a content type that nobody reads', { 'content-type': 'text/plain' }, 415],
    ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }, 415],
    ['a charset that nobody reads', { 'content-type': 'application/json; charset=utf-16' }, 415],
    ['an encoding that nobody reads', { ...JSON_BODY, 'content-encoding': 'zstd' }, 415],
    ['gzip that is none', { ...JSON_BODY, 'content-encoding': 'gzip' }, 400],
    ['JSON called a form', FORM_BODY, 415],
  ])('with %s', async (_, headers, status) => {
    const answer = await ask(strict, ANALYZE, { body: '{"input.data":"aGVsbG8="}', headers });
    expect([answer.status, answer.json.error.code]).toEqual([status, status]);
  });

  it('with JSON that is no object of parameters, or cut off', async () => {
    for (const body of ['[1]', '"x"', '{"a":', '{"input.data":{"x":1}}', '{"input.data":[[1]]}', '\u0000']) {
      const answer = await ask(strict, ANALYZE, { body, headers: JSON_BODY });
      expect([body, answer.status]).toEqual([body, 400]);
    }
  });

  it('with a gzip that is cut off', async () => {
    const body = gzipSync(`input.data=${'aGVs'.repeat(100)}`).subarray(0, 30);
    const answer = await ask(strict, ANALYZE, { body, headers: { ...FORM_BODY, 'content-encoding': 'gzip' } });
    expect([answer.status, answer.json.error.msg]).toEqual([400, expect.stringContaining('does not decompress')]);
  });

  it('with more bytes than allowed: announced, chunked or compressed', async () => {
    const body = `input.data=${'a'.repeat(5000)}`;
    expect((await ask(strict, ANALYZE, { body, headers: FORM_BODY })).status).toBe(413);
    expect((await ask(strict, ANALYZE, { body, headers: FORM_BODY, chunked: true })).status).toBe(413);
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const answer = await ask(strict, ANALYZE, { body: bomb, headers: { ...FORM_BODY, 'content-encoding': 'gzip' } });
    expect(answer.status).toBe(413);
  });

  it('with thousands of parameters, in the address or in a body', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `p${i}=1`).join('&');
    expect((await ask(gateway, `${ANALYZE}?${many}`)).status).toBe(431);
    expect((await ask(gateway, ANALYZE, { body: many, headers: FORM_BODY })).status).toBe(400);
    expect((await ask(strict, `${ANALYZE}?${many.slice(0, 1000)}`)).status).toBe(400);
  });

  it('with an absurdly long parameter', async () => {
    const answer = await ask(strict, `${ANALYZE}?input.url=http://h/${'x'.repeat(600)}`);
    expect([answer.status, answer.json.error.msg]).toEqual([400, 'Parameter input.url is longer than 500 characters.']);
  });

  it('with a body that stops flowing', async () => {
    const head = `POST ${ANALYZE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ninput.data=`;
    const answer = await raw(strict, head);
    expect(answer).toMatch(/^HTTP\/1.1 400/);
    expect(answer).toContain('No byte of the body came for 0.2 seconds');
    expect(answer.toLowerCase()).toContain('connection: close');
  });

  it('with paths that try to leave, odd escapes, or no HTTP at all', async () => {
    for (const path of [
      '/api/cores/../../etc/passwd',
      '/%2e%2e/%2e%2e/etc/passwd',
      '/api/cores/c/analyze%2f..%2f..',
      '/..;/x',
    ]) {
      expect([path, (await ask(strict, path)).status]).toEqual([path, 404]);
    }
    expect((await ask(gateway, '/api/cores/%zz/analyze?input.data=aGVsbG8%3D')).status).toBe(400);
    // The client's mistake is no error of ours.
    expect(log.lines.map(({ level }) => level)).not.toContain('error');
    expect(await raw(strict, 'EHLO mail\r\n\r\n')).toMatch(
      /^HTTP\/1.1 400 Bad Request\r\nContent-Type: application\/json/,
    );
  });

  it('with an address in raw UTF-8, as curl sends what is typed', async () => {
    const answer = await raw(strict, 'GET /docs?q=grün HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 400.*must be percent-encoded/s);
  });

  it('with blanks in its address', async () => {
    const answer = await raw(strict, 'GET /docs?q=price:[1 TO 5] HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 400.*blanks in an address/s);
  });

  it('with NUL in a parameter or in the path', async () => {
    for (const [path, name] of [
      [`${ANALYZE}?input.url=a%00b`, 'input.url'],
      ['/api/cores/%00/analyze?input.data=aGVsbG8%3D', 'collection'],
    ] as const) {
      const { status, json } = await ask(gateway, path);
      expect([status, json.error.msg]).toEqual([400, expect.stringMatching(`^Parameter ${name} holds .*NUL`)]);
    }
  });

  it('with headers that never end', async () => {
    const hurried = await createGateway(testConfig({ limits: { headerMilliseconds: 200 } }));
    const started = performance.now();
    expect(await raw(hurried, 'GET /docs HTTP/1.1\r\nHost: localhost\r\nX-A: ')).toMatch(/^HTTP\/1.1 408/);
    expect(performance.now() - started).toBeLessThan(40_000);
    await hurried[Symbol.asyncDispose]();
  });

  it('with a request that is cut off', async () => {
    const head = `POST ${ANALYZE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{`;
    expect(await raw(strict, head, true)).toMatch(/^HTTP\/1.1 400.*connection ended before the request did/s);
  });

  it('keeps answering afterwards', async () => {
    expect((await ask(strict, `${ANALYZE}?input.data=aGVsbG8%3D`)).status).toBe(200);
  });
});

describe('the web page', () => {
  it('is the folder of the config, and / leads to the docs without one', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'akin-web-'));
    await writeFile(join(folder, 'index.html'), '<h1>akin</h1>');
    await writeFile(join(folder, '.env'), 'secret');
    const withPage = await createGateway(testConfig({ webFolder: folder }));
    const page = await ask(withPage, '/?collection=x');
    expect([page.status, page.text]).toEqual([200, '<h1>akin</h1>']);
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
    expect((await ask(withPage, '/.env')).status).toBe(404);
    expect((await ask(withPage, '/%2e%2e/package.json')).status).toBe(404);
    await withPage[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
    expect((await ask(gateway, '/')).headers.location).toBe('/docs');
  });
});

describe('stopping', () => {
  it('lets an open request end, takes no new one, and closes idle connections', async () => {
    let finish: (() => void) | undefined;
    const waiting = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let begun: (() => void) | undefined;
    const started = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const stopping = await createGateway(
      testConfig({
        analyze: async (...args) => {
          begun?.();
          await waiting;
          return echo(...args);
        },
      }),
    );
    const open = ask(stopping, `${ANALYZE}?input.data=aGVsbG8%3D`);
    await started;
    const closed = stopping[Symbol.asyncDispose]();
    await expect(ask(stopping, '/health/live')).rejects.toThrow();
    finish?.();
    expect((await open).status).toBe(200);
    await closed;
  });
});

/** Sends bytes as they are, and the end of them if asked to, and gives back what comes until the end. */
function raw(to: Gateway, bytes: string, andEnd = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(to.port, '127.0.0.1', () => (andEnd ? socket.end(bytes) : socket.write(bytes)));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      // The test has its answer; the server may go on waiting for the rest of the body.
      if (text.includes('\r\n\r\n')) socket.end();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}
