import { addresses, ENDPOINTS, type Endpoint } from '@akin/contract';
import { SCOPES, type Scope, scopeIncludes } from '@akin/domain';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, JSON_BODY, type TestResponse } from '../../test/start-gateway.ts';
import { bearer, type Keyed, keyedGateways, startKeyed } from '../../test/start-keyed.ts';

const DOCUMENT = JSON.stringify({ id: '1', title: 'a red shoe' });
const COLLECTION = '/api/cores/my-collection';

describe('keys', () => {
  let keyed: Keyed;
  const { as } = keyedGateways((started) => {
    keyed = started;
  });

  describe('at every address and with every method', () => {
    const every = Object.entries<Endpoint>(ENDPOINTS).flatMap(([name, endpoint]) =>
      addresses(endpoint, 'solr').flatMap(([, path]) =>
        [...endpoint.methods, ...(endpoint.methods.includes('GET') ? ['HEAD'] : [])].map(
          (method) => [method, path, endpoint.scope, name] as const,
        ),
      ),
    );

    it.each(every.filter(([, , scope]) => scope !== 'anyone'))('%s %s needs a key', async (method, path, scope) => {
      const address = path.replace('{collection}', 'nowhere').replace(/\{[^}]+\}/g, 'nowhere-1');
      const response = await as(undefined, address, method);
      expect([response.status, response.headers['www-authenticate']]).toEqual([401, expect.stringContaining('Bearer')]);
      if (method !== 'HEAD')
        expect(response.json.error).toMatchObject({ code: 401, metadata: ['error-class', 'unauthorized'] });
      for (const held of SCOPES) {
        const { status, json } = await as(keyed.keys[held], address, method);
        if (scopeIncludes(held, scope as Scope)) expect([401, 403]).not.toContain(status);
        else expect([status, json?.error.msg ?? scope]).toEqual([403, expect.stringContaining(scope)]);
      }
    });

    it('serves health and documentation to everybody', async () => {
      const open = every.filter(([, , scope]) => scope === 'anyone').map(([, path]) => path);
      expect([...new Set(open)].sort()).toEqual([
        '/docs',
        '/health/live',
        '/health/ready',
        '/openapi-legacy.json',
        '/openapi.json',
      ]);
      for (const path of open) expect((await as(undefined, path)).status).toBe(200);
    });
  });

  it.each([
    '//api/keys',
    '/api//keys',
    '/api/./keys',
    '/health/../api/keys',
    '/health/live/../../api/keys',
    '/docs/..%2fapi/keys',
    '/api%2fkeys',
    '/%61pi/keys',
    '/api/keys/',
    '/API/KEYS',
    '/api/keys;a=b',
    '/api/keys%00',
    '/api/cores/../keys',
    '/api/cores/my-collection/../../keys',
    'http://localhost/api/keys',
    'http://localhost//api/keys?x=/health/live',
    '/api/keys?/health/live',
    '/api/keys#/health/live',
    '/solr/../api/keys',
    '/solr/admin/cores/',
    '/solr/my-collection/select/',
    '/solr//my-collection/select',
    '/metrics/',
  ])('answers nothing at %s without a key', async (path) => {
    for (const method of ['GET', 'POST', 'HEAD', 'PUT', 'DELETE']) {
      const response = await as(undefined, path, method);
      expect([400, 401, 404, 405]).toContain(response.status);
      expect(response.text).not.toMatch(/"keys"|numFound|my-collection"/);
    }
  });

  it('answers OPTIONS only with the methods that exist', async () => {
    const response = await as(undefined, `${COLLECTION}/select`, 'OPTIONS');
    expect([response.status, response.text, response.headers.allow]).toEqual([204, '', 'GET, HEAD, POST, OPTIONS']);
  });

  it('reads no body before it has checked the key', async () => {
    const response = await ask(keyed.gateway, `${COLLECTION}/update`, {
      body: `[${DOCUMENT}`.repeat(200_000),
      headers: JSON_BODY,
    });
    expect([response.status, response.headers.connection]).toEqual([401, 'close']);
  });
});

describe('on this machine, where no key is required', () => {
  let keyed: Keyed;
  beforeAll(async () => {
    keyed = await startKeyed({ requireKeys: false });
    await keyed.make({ scope: 'search', origins: ['https://shop.example'] });
  });
  afterAll(async () => {
    await keyed?.[Symbol.asyncDispose]();
  });
  const select = (headers: Record<string, string> = {}) => ask(keyed.gateway, `${COLLECTION}/select`, { headers });

  it('a key that is sent still counts', async () => {
    expect((await select()).status).toBe(200);
    expect((await select(bearer(keyed.keys.search))).status).toBe(200);
    expect((await select(bearer(`akin_${'0'.repeat(12)}_${'0'.repeat(64)}`))).status).toBe(401);
    const write = await ask(keyed.gateway, `${COLLECTION}/update`, {
      body: DOCUMENT,
      headers: { ...JSON_BODY, ...bearer(keyed.keys.search) },
    });
    expect(write.status).toBe(403);
  });

  it('a user and password that are not a key are ignored', async () => {
    expect((await select({ authorization: `Basic ${Buffer.from('solr:SolrRocks').toString('base64')}` })).status).toBe(
      200,
    );
    expect((await select({ authorization: 'Negotiate YII' })).status).toBe(200);
  });

  it('the origin of a key gives no access to pages without the key', async () => {
    expect((await select({ origin: 'https://shop.example' })).status).toBe(403);
    const response = await select({ origin: 'https://evil.example' });
    expect([response.status, response.headers['access-control-allow-origin']]).toEqual([200, undefined]);
    expect((await select({ host: 'evil.example' })).status).toBe(403);
  });
});

describe('rates', () => {
  const asked = async (keyed: Keyed, headers: Record<string, string>, times: number) => {
    const responses: TestResponse[] = [];
    for (let i = 0; i < times; i++) responses.push(await ask(keyed.gateway, '/api/cores/nowhere/schema', { headers }));
    return responses;
  };

  /** Even if the requests before it were slow. */
  const refusal = async (keyed: Keyed, headers: Record<string, string>): Promise<TestResponse> => {
    const [response] = await asked(keyed, headers, 1);
    return response?.status === 429 ? response : refusal(keyed, headers);
  };

  it('apply to each key separately, say when to continue, and may be those of the key', async () => {
    await using keyed = await startKeyed({ keyRate: 1 });
    const [first] = await asked(keyed, bearer(keyed.keys.search), 1);
    expect(first?.headers).toMatchObject({ 'ratelimit-limit': '10', 'ratelimit-remaining': '9' });
    const refused = await refusal(keyed, bearer(keyed.keys.search));
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-remaining': '0' });
    expect(refused.json.error.metadata).toEqual(['error-class', 'too-many-requests']);
    expect((await asked(keyed, bearer(keyed.keys.index), 1))[0]?.status).toBe(404);
    const key = await keyed.make({ scope: 'search', rate: 50 });
    expect((await asked(keyed, bearer(key), 30)).every(({ status }) => status === 404)).toBe(true);
  });

  it('apply to each address that uses the key of a page, or tries without a key', async () => {
    await using keyed = await startKeyed({ addressRate: 1, proxies: 1 });
    const key = await keyed.make({ scope: 'search', origins: ['https://shop.example'] });
    const visitor = (address: string) => ({ ...bearer(key), 'x-forwarded-for': address });
    await refusal(keyed, visitor('203.0.113.1'));
    // Entries that a client adds before the entry of the proxy change nothing: another address has nine left.
    const [forged] = await asked(keyed, visitor('198.51.100.9, 203.0.113.1'), 1);
    expect(Number(forged?.headers['ratelimit-remaining'])).toBeLessThan(9);
    const [other] = await asked(keyed, visitor('203.0.113.2'), 1);
    expect([other?.status, other?.headers['ratelimit-remaining']]).toEqual([404, '9']);
    expect((await asked(keyed, {}, 1))[0]?.status).toBe(401);
    await refusal(keyed, {});
    // Others there are served.
    expect((await asked(keyed, bearer(keyed.keys.search), 1))[0]?.status).toBe(404);
    expect((await ask(keyed.gateway, '/health/live')).status).toBe(200);
  });
});
