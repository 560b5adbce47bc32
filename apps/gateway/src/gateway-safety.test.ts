import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ANALYZE, echo, echoingGateway } from '../test/echoing-gateway.ts';
import { ask, createGateway, FORM_BODY, type Gateway, JSON_BODY, testConfig } from '../test/start-gateway.ts';
import type { GatewayConfig } from './config.ts';

let gateway: Gateway;
const log = echoingGateway((started) => {
  gateway = started;
});

describe('safety', () => {
  it.each(['0.0.0.0', '::', '192.0.2.1', ''])('refuses to listen on %p without keys', async (host) => {
    await expect(createGateway(testConfig({ host }))).rejects.toThrow('keys create --scope admin');
  });

  it('listens there if this is allowed explicitly', async () => {
    const open = await createGateway(testConfig({ host: '0.0.0.0', allowOpenNetwork: true }));
    expect((await ask(open, '/health/live')).status).toBe(200);
    await open[Symbol.asyncDispose]();
  });

  it('answers on an open network only to names that no foreign name server controls', async () => {
    const config = testConfig({ host: '0.0.0.0', allowOpenNetwork: true, allowedHosts: ['Akin.example'] });
    await using open = await createGateway(config);
    const allowed = await ask(open, '/health/live', { headers: { host: 'akin.example.:80' } });
    expect(allowed.status).toBe(200);
    const refused = await ask(open, '/health/live', { headers: { host: 'evil.example:8983' } });
    expect([refused.status, refused.json.error.msg]).toEqual([
      403,
      expect.stringMatching(/"evil.example:8983".*--allowed-hosts/),
    ]);
    expect(await raw(open, 'GET /health/live HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1.1 200/);
    expect(await raw(open, 'GET /health/live HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1.1 403/);
  });

  it('says which of the allowed hosts is not a name', async () => {
    const config = testConfig({ allowedHosts: ['https://akin.example'] });
    await expect(createGateway(config)).rejects.toThrow('"https://akin.example" is not a host name');
  });

  it.each([
    ['an open network', { host: '0.0.0.0', allowOpenNetwork: true }],
    ['this machine behind a proxy', { allowedHosts: ['akin.example'] }],
  ])('refuses to create, list or revoke keys without a key on %s', async (_, config) => {
    await using open = await createGateway(testConfig(config));
    const origin = `http://127.0.0.1:${open.port}`;
    for (const [method, path] of [
      ['GET', '/api/keys'],
      ['POST', '/api/keys?scope=admin'],
      ['DELETE', '/api/keys/k1'],
    ] as const) {
      const response = await ask(open, path, { method, headers: { origin } });
      expect([method, response.status, response.json.error.msg]).toEqual([
        method,
        403,
        expect.stringContaining('akin keys create --scope admin'),
      ]);
    }
  });

  it('lets pages of other origins show nothing without CORS, unless all origins are allowed', async () => {
    const policyOf = async (asked: Gateway, path: string, headers: Record<string, string> = {}) =>
      (await ask(asked, path, { headers })).headers['cross-origin-resource-policy'];
    for (const path of ['/', '/docs', '/health/live', '/nowhere', `${ANALYZE}?input.data=aGVsbG8%3D`]) {
      expect([path, await policyOf(gateway, path)]).toEqual([path, 'same-origin']);
    }
    expect(await policyOf(gateway, '/docs', { origin: 'https://shop.example' })).toBe('same-origin');
    expect(await policyOf(gateway, '/docs', { host: 'evil.example' })).toBe('same-origin');
    await using open = await createGateway(testConfig({ corsOrigins: ['*'] }));
    expect(await policyOf(open, '/docs')).toBe('cross-origin');
  });

  it('answers preflight requests only for named origins', async () => {
    const preflight = (origin: string) =>
      ask(gateway, ANALYZE, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } });
    expect((await preflight('https://shop.example')).headers).toMatchObject({
      'access-control-allow-origin': 'https://shop.example',
      'access-control-allow-methods': 'GET, POST, PUT, DELETE',
      vary: 'Origin',
    });
    expect((await preflight('https://evil.example')).headers).not.toHaveProperty('access-control-allow-origin');
  });

  it.each([
    ['/api/cores/my-collection/analyze?input.url=http://127.0.0.1:9/off', 'GET'],
    ['/solr/my-collection/analyze?input.url=http://127.0.0.1:9/off', 'HEAD'],
  ])('does not fetch for a page of another site: %s by %s', async (path, method) => {
    const send = async (headers: Record<string, string>) => (await ask(gateway, path, { method, headers })).status;
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
    ])
      expect([headers, await send(headers)]).toEqual([headers, 403]);
    for (const headers of [{}, { 'sec-fetch-site': 'same-origin' }, { origin: 'https://shop.example' }])
      expect([headers, await send(headers)]).toEqual([headers, 200]);
  });

  it('refuses a GET of another site if a GET can change something', async () => {
    const response = await ask(gateway, '/api/cores/c/update?commit=true', {
      headers: { 'sec-fetch-site': 'cross-site' },
    });
    expect(response.status).toBe(403);
  });
});

describe('hostile requests', () => {
  const small: GatewayConfig['limits'] = {
    parameterBytes: 2000,
    parameters: 50,
    parameterLength: 500,
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
    ['an unknown content type', { 'content-type': 'text/plain' }, 415],
    ['multipart', { 'content-type': 'multipart/form-data; boundary=x' }, 400],
    ['an unknown charset', { 'content-type': 'application/json; charset=utf-16' }, 415],
    ['an unknown encoding', { ...JSON_BODY, 'content-encoding': 'zstd' }, 415],
    ['encodings on encodings', { ...JSON_BODY, 'content-encoding': 'gzip, '.repeat(1_000) }, 415],
    ['gzip that is not gzip', { ...JSON_BODY, 'content-encoding': 'gzip' }, 400],
    ['JSON called a form', FORM_BODY, 415],
  ])('with %s', async (_, headers, status) => {
    const response = await ask(strict, ANALYZE, { body: '{"input.data":"aGVsbG8="}', headers });
    expect([response.status, response.json.error.code]).toEqual([status, status]);
  });

  it('with JSON that is not an object of parameters, or cut off', async () => {
    for (const body of ['[1]', '"x"', '{"a":', '{"input.data":{"x":1}}', '{"input.data":[[1]]}', '\u0000']) {
      const response = await ask(strict, ANALYZE, { body, headers: JSON_BODY });
      expect([body, response.status]).toEqual([body, 400]);
    }
  });

  it('with a gzip that is cut off', async () => {
    const body = gzipSync(`input.data=${'aGVs'.repeat(100)}`).subarray(0, 30);
    const response = await ask(strict, ANALYZE, { body, headers: { ...FORM_BODY, 'content-encoding': 'gzip' } });
    expect([response.status, response.json.error.msg]).toEqual([
      400,
      expect.stringContaining('cannot be decompressed'),
    ]);
  });

  it('with more bytes than allowed: announced, chunked or compressed', async () => {
    const body = `input.data=${'a'.repeat(5000)}`;
    expect((await ask(strict, ANALYZE, { body, headers: FORM_BODY })).status).toBe(413);
    expect((await ask(strict, ANALYZE, { body, headers: FORM_BODY, chunked: true })).status).toBe(413);
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const response = await ask(strict, ANALYZE, { body: bomb, headers: { ...FORM_BODY, 'content-encoding': 'gzip' } });
    expect(response.status).toBe(413);
  });

  it('with thousands of parameters, in the address or in a body', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `p${i}=1`).join('&');
    expect((await ask(gateway, `${ANALYZE}?${many}`)).status).toBe(431);
    expect((await ask(gateway, ANALYZE, { body: many, headers: FORM_BODY })).status).toBe(400);
    expect((await ask(strict, `${ANALYZE}?${many.slice(0, 1000)}`)).status).toBe(400);
  });

  it('with an absurdly long parameter', async () => {
    const response = await ask(strict, `${ANALYZE}?input.url=http://h/${'x'.repeat(600)}`);
    expect([response.status, response.json.error.msg]).toEqual([
      400,
      'Parameter input.url is longer than 500 characters.',
    ]);
  });

  it('with a body that stops flowing', async () => {
    const head = `POST ${ANALYZE} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\ninput.data=`;
    // Not in parallel: a busy machine may take longer for bodies that do arrive.
    await using hurried = await createGateway(testConfig({ analyze: echo, limits: { bodyIdleMilliseconds: 200 } }));
    const response = await raw(hurried, head);
    expect(response).toMatch(/^HTTP\/1.1 408/);
    expect(response).toContain('pause for less than 0.2 seconds');
    expect(response.toLowerCase()).toContain('connection: close');
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
    // An error of the client is not logged as one of akin.
    expect(log.lines.map(({ level }) => level)).not.toContain('error');
    expect(await raw(strict, 'EHLO mail\r\n\r\n')).toMatch(
      /^HTTP\/1.1 400 Bad Request\r\nContent-Type: application\/json/,
    );
  });

  it('with an address in raw UTF-8, as curl sends what is typed', async () => {
    const response = await raw(strict, 'GET /docs?q=grün HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(response).toMatch(/^HTTP\/1.1 400.*percent-encode them/s);
  });

  it('with blanks in its address', async () => {
    const response = await raw(strict, 'GET /docs?q=price:[1 TO 5] HTTP/1.1\r\nHost: localhost\r\n\r\n');
    expect(response).toMatch(/^HTTP\/1.1 400.*blanks in it/s);
  });

  it('with NUL in a parameter or in the path', async () => {
    for (const [path, name] of [
      [`${ANALYZE}?input.url=a%00b`, 'input.url'],
      ['/api/cores/%00/analyze?input.data=aGVsbG8%3D', 'collection'],
    ] as const) {
      const { status, json } = await ask(gateway, path);
      expect([status, json.error.msg]).toEqual([400, expect.stringMatching(`^Parameter ${name} contains .*NUL`)]);
    }
  });

  it.each([
    ['two names of the host', 'Host: evil.example', /The header Host came twice/],
    ['two keys', 'Authorization: Bearer a\r\nauthorization: Bearer b', /The header authorization came twice/],
    ['a compressed transfer', 'Transfer-Encoding: gzip, chunked', /only chunked is read/],
  ])('with %s, which a proxy may understand otherwise', async (_, headers, why) => {
    const head = 'POST /docs HTTP/1.1\r\nHost: localhost\r\nConnection: close';
    const response = await raw(
      strict,
      `${head}\r\n${headers}\r\n\r\n${headers.includes('chunked') ? '0\r\n\r\n' : ''}`,
    );
    expect(response).toMatch(/^HTTP\/1.1 400/);
    expect(response).toMatch(why);
  });

  it('with headers that never end', async () => {
    const hurried = await createGateway(testConfig({ limits: { headerMilliseconds: 200 } }));
    expect(await raw(hurried, 'GET /docs HTTP/1.1\r\nHost: localhost\r\nX-A: ')).toMatch(/^HTTP\/1.1 408/);
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

/** Sends raw bytes, and the end of the stream if requested, and returns what the server sends until it closes. */
function raw(to: Gateway, bytes: string, andEnd = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(to.port, '127.0.0.1', () => (andEnd ? socket.end(bytes) : socket.write(bytes)));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      // The test has its response. The server may still wait for the rest of the body.
      if (text.includes('\r\n\r\n')) socket.end();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(text));
  });
}
