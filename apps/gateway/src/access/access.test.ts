import { addresses, ENDPOINTS, type Endpoint } from '@akin/contract';
import { allows, SCOPES, type Scope } from '@akin/domain';
import { createCollection, dropCollection, findCollection, listKeys } from '@akin/store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, FORM_BODY, JSON_BODY, type TestAnswer } from '../../test/start-gateway.ts';
import { bearer, type Keyed, startKeyed } from '../../test/start-keyed.ts';

const DOCUMENT = JSON.stringify({ id: '1', title: 'a red shoe' });
const COLLECTION = '/api/cores/my-collection';
const PICTURE = 'https://pictures.example/red.png';

describe.each(['pglite', 'postgres'] as const)('keys on %s', (kind) => {
  let keyed: Keyed;
  const as = (key: string | undefined, path: string, method = 'GET', headers: Record<string, string> = {}) =>
    ask(keyed.gateway, path, { method, headers: { ...headers, ...(key === undefined ? {} : bearer(key)) } });

  beforeAll(async () => {
    keyed = await startKeyed(kind, { addressRate: 100_000 });
  });
  afterAll(async () => {
    await keyed?.[Symbol.asyncDispose]();
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
      const answer = await as(undefined, address, method);
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, expect.stringContaining('Bearer')]);
      if (method !== 'HEAD')
        expect(answer.json.error).toMatchObject({ code: 401, metadata: ['error-class', 'unauthorized'] });
      for (const held of SCOPES) {
        const { status, json } = await as(keyed.keys[held], address, method);
        if (allows(held, scope as Scope)) expect([401, 403]).not.toContain(status);
        else expect([status, json?.error.msg ?? scope]).toEqual([403, expect.stringContaining(scope)]);
      }
    });

    it('tells everybody how it is and what it can be asked', async () => {
      const open = every.filter(([, , scope]) => scope === 'anyone').map(([, path]) => path);
      expect([...new Set(open)].sort()).toEqual(['/docs', '/health/live', '/health/ready', '/openapi.json']);
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
  ])('tells nothing at %s without a key', async (path) => {
    for (const method of ['GET', 'POST', 'HEAD', 'PUT', 'DELETE']) {
      const answer = await as(undefined, path, method);
      expect([400, 401, 404, 405]).toContain(answer.status);
      expect(answer.text).not.toMatch(/"keys"|numFound|my-collection"/);
    }
  });

  it('tells nothing by OPTIONS but what methods there are', async () => {
    const answer = await as(undefined, `${COLLECTION}/select`, 'OPTIONS');
    expect([answer.status, answer.text, answer.headers.allow]).toEqual([204, '', 'GET, HEAD, POST, OPTIONS']);
  });

  it('takes no body before it knows who sends it', async () => {
    const answer = await ask(keyed.gateway, `${COLLECTION}/update`, {
      body: `[${DOCUMENT}`.repeat(200_000),
      headers: JSON_BODY,
    });
    expect([answer.status, answer.headers.connection]).toEqual([401, 'close']);
  });

  describe('a key', () => {
    const sent = (headers: Record<string, string>) => ask(keyed.gateway, `${COLLECTION}/select`, { headers });
    const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });

    it('may come as a Bearer token, as X-API-Key, or as the password of Basic with any user', async () => {
      const { search } = keyed.keys;
      for (const headers of [
        bearer(search),
        { authorization: `bearer  ${search}` },
        { 'x-api-key': search },
        { 'X-API-Key': search, authorization: 'Basic b2Y6YSBwcm94eQ==' },
        basic(`solr:${search}`),
        basic(`:${search}`),
      ]) {
        expect([headers, (await sent(headers)).status]).toEqual([headers, 200]);
      }
    });

    it('does not come in the address or a cookie', async () => {
      const { admin } = keyed.keys;
      for (const name of ['key', 'api_key', 'apikey', 'api-key', 'token', 'access_token', 'authorization']) {
        expect((await as(undefined, `${COLLECTION}/select?${name}=${admin}`)).status).toBe(401);
      }
      expect((await sent({ cookie: `key=${admin}; authorization=Bearer ${admin}` })).status).toBe(401);
      const form = await ask(keyed.gateway, `${COLLECTION}/select`, { body: `key=${admin}`, headers: FORM_BODY });
      expect(form.status).toBe(401);
    });

    it.each([
      ['another secret', (key: string) => `${key.slice(0, -4)}${key.endsWith('0000') ? '1111' : '0000'}`],
      ['the id of one and the secret of another', (key: string) => `${keyed.keys.search.slice(0, 17)}${key.slice(17)}`],
      ['a beginning', (key: string) => key.slice(0, 40)],
      ['its id alone', (key: string) => key.slice(5, 17)],
      ['capitals', (key: string) => key.toUpperCase()],
      ['more behind it', (key: string) => `${key}0`],
      ['SQL', () => "akin_' or 1=1 --"],
      ['nothing', () => ''],
    ])('is not %s', async (_, change) => {
      const text = change(keyed.keys.admin);
      expect((await sent({ 'x-api-key': text })).status).toBe(401);
      expect((await sent(basic(`admin:${text}`))).status).toBe(401);
    });

    it('is refused when it is sent twice, whichever of them is right', async () => {
      const { search } = keyed.keys;
      const twice = { 'x-api-key': [search, 'akin_other'] } as unknown as Record<string, string>;
      expect((await sent(twice)).status).toBe(400);
    });

    it('is told once and is known by its hash alone', async () => {
      const made = await ask(keyed.gateway, '/api/keys', {
        body: JSON.stringify({
          scope: 'search',
          note: 'shop',
          origins: ['https://a.example', 'https://b.example'],
          rate: 5,
        }),
        headers: { ...JSON_BODY, ...bearer(keyed.keys.admin) },
      });
      expect([made.status, made.headers['cache-control']]).toEqual([201, 'no-store']);
      const { key, id, origins } = made.json;
      expect([key.startsWith(`akin_${id}_`), origins]).toEqual([true, ['https://a.example', 'https://b.example']]);
      const list = await as(keyed.keys.admin, '/api/keys');
      expect(list.json.keys.find((one: { id: string }) => one.id === id)).toMatchObject({ note: 'shop', rate: 5 });
      expect(list.text).not.toContain(key.slice(18));
      expect(list.text).not.toContain('hash');
    });

    it('is over at its time', async () => {
      const key = await keyed.make({ scope: 'search', expiresAt: new Date(Date.now() + 1_500) });
      expect((await as(key, `${COLLECTION}/select`)).status).toBe(200);
      await until(async () => (await as(key, `${COLLECTION}/select`)).status === 401);
      const answer = await as(key, `${COLLECTION}/select`);
      expect(answer.json.error.msg).toContain('is over');
    });

    it('tells when it was last used', async () => {
      const key = await keyed.make({ scope: 'search' });
      const usedAt = async () => (await listKeys(keyed.store)).find(({ id }) => key.includes(id))?.usedAt;
      expect((await as(key, `${COLLECTION}/select`)).status).toBe(200);
      await until(async () => (await usedAt()) instanceof Date);
    });

    it.each([
      ['scope=all', 'scope'],
      ['', 'scope is required'],
      ['scope=search&expires=tomorrow', 'expires'],
      ['scope=search&expires=0d', 'is over'],
      ['scope=index&origins=https://a.example', 'scope must be search'],
      ['scope=search&origins=*', 'is none'],
      ['scope=search&collections=nowhere', 'nowhere'],
      ['scope=search&rate=fast', 'rate'],
    ])('is not made of %p', async (body, message) => {
      const answer = await ask(keyed.gateway, '/api/keys', {
        body,
        headers: { ...FORM_BODY, ...bearer(keyed.keys.admin) },
      });
      expect([400, 404]).toContain(answer.status);
      expect(answer.json.error.msg).toContain(message);
    });
  });

  it('revokes a key in every gateway within seconds, and lets a new one in at once', async () => {
    const { json: made } = await ask(keyed.gateway, '/api/keys', {
      body: 'scope=index',
      headers: { ...FORM_BODY, ...bearer(keyed.keys.admin) },
    });
    const at = (gateway: Keyed['gateway']) => ask(gateway, `${COLLECTION}/operations`, { headers: bearer(made.key) });
    expect([(await at(keyed.gateway)).status, (await at(keyed.other)).status]).toEqual([200, 200]);
    const gone = await as(keyed.keys.admin, `/api/keys/${made.id}`, 'DELETE');
    expect(gone.status).toBe(200);
    expect((await at(keyed.gateway)).status).toBe(401);
    const since = performance.now();
    await until(async () => (await at(keyed.other)).status === 401);
    expect(performance.now() - since).toBeLessThan(4_000);
    expect((await as(keyed.keys.admin, `/api/keys/${made.id}`, 'DELETE')).status).toBe(404);
  });

  it('ends what goes on for long when its key is revoked', async () => {
    const { json: made } = await ask(keyed.other, '/api/keys', {
      body: 'scope=index',
      headers: { ...FORM_BODY, ...bearer(keyed.keys.admin) },
    });
    const answer = await fetch(`${keyed.gateway.url}${COLLECTION}/operations/stream`, { headers: bearer(made.key) });
    const ended = answer.text().then(
      () => 'ended',
      () => 'ended',
    );
    const other = as(keyed.keys.search, '/api/cores').then(() => 'goes on');
    expect([answer.status, await Promise.race([ended, other])]).toEqual([200, 'goes on']);
    await ask(keyed.other, `/api/keys/${made.id}`, { method: 'DELETE', headers: bearer(keyed.keys.admin) });
    expect(await ended).toBe('ended');
  });

  describe('a key for some collections', () => {
    let key: string;
    let admin: string;
    beforeAll(async () => {
      await createCollection(keyed.store, 'mine');
      await createCollection(keyed.store, 'secret');
      key = await keyed.make({ scope: 'index', collections: ['mine'] });
      admin = await keyed.make({ scope: 'admin', collections: ['mine'] });
      expect((await as(key, '/api/cores/mine/select')).status).toBe(200);
    });

    it.each([
      '/api/cores/secret/select',
      '/solr/secret/update?commit=true',
      '/api/cores/secret',
      '/api/cores/mine2/select',
      '/api/cores/%73ecret/select',
      '/solr/secret/admin/ping',
    ])('does not open %s', async (path) => {
      const answer = await as(key, path);
      expect([answer.status, answer.json.error.msg]).toEqual([403, expect.stringContaining('is for mine alone')]);
    });

    it('has no outputs from another for one that is made anew', async () => {
      const answer = await as(admin, '/api/cores/mine/reindex?outputsFrom=secret', 'POST');
      expect([answer.status, answer.json.error.msg]).toEqual([403, 'This key is not for the collection "secret".']);
    });

    it('sees no others, by name or in lists', async () => {
      expect((await as(key, '/api/cores')).json.collections.map((one: { name: string }) => one.name)).toEqual(['mine']);
      expect(Object.keys((await as(key, '/solr/admin/cores')).json.status)).toEqual(['mine']);
      expect((await as(key, '/solr/admin/cores?core=secret')).json.status).toEqual({ secret: {} });
    });

    it('cannot be used to make another key, or to see the figures of all', async () => {
      for (const path of ['/api/keys', '/metrics']) expect((await as(admin, path)).status).toBe(403);
      const made = await ask(keyed.gateway, '/api/keys', {
        body: 'scope=admin',
        headers: { ...FORM_BODY, ...bearer(admin) },
      });
      expect(made.status).toBe(403);
      expect((await as(admin, '/api/cores/other', 'PUT')).status).toBe(403);
    });

    it('does not open the next collection of the same name', async () => {
      const fleeting = await createCollection(keyed.store, 'fleeting');
      const old = await keyed.make({ scope: 'search', collections: ['fleeting'] });
      expect((await as(old, '/api/cores/fleeting/select')).status).toBe(200);
      if (kind === 'pglite') expect((await as(keyed.keys.admin, '/api/cores/fleeting', 'DELETE')).status).toBe(200);
      else await dropCollection(keyed.store, fleeting);
      await createCollection(keyed.store, 'fleeting');
      await until(async () => (await as(old, '/api/cores/fleeting/select')).status === 403);
      expect((await findCollection(keyed.store, 'fleeting')).id).not.toBe(fleeting.id);
    });
  });

  describe('the key of a web page', () => {
    const origin = 'https://shop.example';
    let key: string;
    const from = (origin: string, path: string, options: { method?: string; body?: string; key?: string } = {}) =>
      ask(keyed.gateway, path, {
        ...(options.method ? { method: options.method } : {}),
        ...(options.body === undefined ? {} : { body: options.body }),
        headers: { origin, ...bearer(options.key ?? key), ...(options.body === undefined ? {} : FORM_BODY) },
      });
    const preflight = (origin: string) =>
      ask(keyed.gateway, `${COLLECTION}/image`, {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
      });
    beforeAll(async () => {
      key = await keyed.make({ scope: 'search', origins: [origin] });
    });

    it('lets pages of its origin ask and read', async () => {
      // Preflights bring no key to look for: a new origin is known when the keys are read the next time.
      await until(async () => 'access-control-allow-origin' in (await preflight(origin)).headers);
      const allowed = await preflight(origin);
      expect([allowed.status, allowed.headers['access-control-allow-origin']]).toEqual([204, origin]);
      expect(allowed.headers['access-control-allow-headers']).toMatch(/Authorization, X-API-Key/);
      expect(allowed.headers).not.toHaveProperty('access-control-allow-credentials');
      for (const answer of [
        await from(origin, `${COLLECTION}/select`),
        await from(origin, `${COLLECTION}/select`, { body: 'q=*:*' }),
      ]) {
        expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, origin]);
        expect(answer.headers.vary).toContain('Origin');
      }
    });

    it.each([
      'https://evil.example',
      'https://shop.example.evil.example',
      'http://shop.example',
      'https://shop.example:8443',
      'null',
    ])('is of no use to pages of %s', async (foreign) => {
      expect((await preflight(foreign)).headers).not.toHaveProperty('access-control-allow-origin');
      const answer = await from(foreign, `${COLLECTION}/select`);
      expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([403, undefined]);
    });

    it('does not open akin to its pages with another key', async () => {
      expect((await from(origin, `${COLLECTION}/select`, { key: keyed.keys.index })).status).toBe(403);
      expect((await from(origin, `${COLLECTION}/update?commit=true`, { key: keyed.keys.index, body: '' })).status).toBe(
        403,
      );
    });

    it.each([
      ['image', `rank.by.url=${PICTURE}`],
      ['image', `rank.by=url:${PICTURE}`],
      ['select', `rank.by.url=${PICTURE}`],
      ['duplicate', `dup.find=url:${PICTURE}`],
      ['query', `rank.by.url=${PICTURE}`],
      ['tag', `tagging.input.url=${PICTURE}`],
    ])('does not let akin fetch anything by /%s?%s', async (endpoint, parameters) => {
      for (const answer of [
        await from(origin, `${COLLECTION}/${endpoint}?${parameters}`),
        await from(origin, `${COLLECTION}/${endpoint}`, { body: parameters }),
        await as(keyed.keys.search, `${COLLECTION}/${endpoint}?${parameters}`),
      ]) {
        // Labels are looked for before the picture.
        if (endpoint === 'tag' && answer.status === 400) continue;
        expect([answer.status, answer.json.error.msg]).toEqual([403, expect.stringContaining('fetch an address')]);
      }
      expect((await as(keyed.keys.index, `${COLLECTION}/image?rank.by.url=${PICTURE}`)).status).not.toBe(403);
    });

    it.each(['analyze', 'update', 'operations', 'export'])('does not open /%s', async (endpoint) => {
      expect((await from(origin, `${COLLECTION}/${endpoint}`)).status).toBe(403);
    });
  });
});

describe('on this machine, where nobody needs a key', () => {
  let keyed: Keyed;
  beforeAll(async () => {
    keyed = await startKeyed('pglite', { requireKeys: false });
    await keyed.make({ scope: 'search', origins: ['https://shop.example'] });
  });
  afterAll(async () => {
    await keyed?.[Symbol.asyncDispose]();
  });
  const select = (headers: Record<string, string> = {}) => ask(keyed.gateway, `${COLLECTION}/select`, { headers });

  it('a key that is sent counts all the same', async () => {
    expect((await select()).status).toBe(200);
    expect((await select(bearer(keyed.keys.search))).status).toBe(200);
    expect((await select(bearer(`akin_${'0'.repeat(12)}_${'0'.repeat(64)}`))).status).toBe(401);
    const write = await ask(keyed.gateway, `${COLLECTION}/update`, {
      body: DOCUMENT,
      headers: { ...JSON_BODY, ...bearer(keyed.keys.search) },
    });
    expect(write.status).toBe(403);
  });

  it('a user and password that are no key mean nothing, as ever', async () => {
    expect((await select({ authorization: `Basic ${Buffer.from('solr:SolrRocks').toString('base64')}` })).status).toBe(
      200,
    );
    expect((await select({ authorization: 'Negotiate YII' })).status).toBe(200);
  });

  it('the origin of a key opens nothing to pages that come without it', async () => {
    expect((await select({ origin: 'https://shop.example' })).status).toBe(403);
    const answer = await select({ origin: 'https://evil.example' });
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, undefined]);
    expect((await select({ host: 'evil.example' })).status).toBe(403);
  });
});

describe('rates', () => {
  const asked = async (keyed: Keyed, headers: Record<string, string>, times: number) => {
    const answers: TestAnswer[] = [];
    for (let i = 0; i < times; i++) answers.push(await ask(keyed.gateway, '/api/cores/nowhere/schema', { headers }));
    return answers;
  };

  it('hold for each key by itself, and tell when to go on', async () => {
    await using keyed = await startKeyed('pglite', { keyRate: 1 });
    const answers = await asked(keyed, bearer(keyed.keys.search), 14);
    expect(answers[0]?.headers).toMatchObject({ 'ratelimit-limit': '10', 'ratelimit-remaining': '9' });
    const refused = answers.find(({ status }) => status === 429) as TestAnswer;
    expect(refused.headers).toMatchObject({ 'retry-after': '1', 'ratelimit-remaining': '0' });
    expect(refused.json.error.metadata).toEqual(['error-class', 'too-many-requests']);
    expect((await asked(keyed, bearer(keyed.keys.index), 1))[0]?.status).toBe(404);
  });

  it('of a key win over those of all', async () => {
    await using keyed = await startKeyed('pglite', { keyRate: 1 });
    const key = await keyed.make({ scope: 'search', rate: 50 });
    expect((await asked(keyed, bearer(key), 30)).every(({ status }) => status === 404)).toBe(true);
  });

  it('hold for each address that shares the key of a page', async () => {
    await using keyed = await startKeyed('pglite', { addressRate: 1, proxies: 1 });
    const key = await keyed.make({ scope: 'search', origins: ['https://shop.example'] });
    const visitor = (address: string) => ({ ...bearer(key), 'x-forwarded-for': address });
    expect((await asked(keyed, visitor('203.0.113.1'), 14)).map(({ status }) => status)).toContain(429);
    // What a client puts in front of the entry of the proxy changes nothing.
    const forged = await asked(keyed, visitor('198.51.100.9, 203.0.113.1'), 1);
    expect(forged[0]?.status).toBe(429);
    expect((await asked(keyed, visitor('203.0.113.2'), 1))[0]?.status).toBe(404);
  });

  it('hold for each address that tries without a key, and hold up nobody else there', async () => {
    await using keyed = await startKeyed('pglite', { addressRate: 1 });
    const tried = await asked(keyed, {}, 14);
    expect([tried[0]?.status, tried.at(-1)?.status]).toEqual([401, 429]);
    expect((await asked(keyed, bearer(keyed.keys.search), 1))[0]?.status).toBe(404);
    expect((await ask(keyed.gateway, '/health/live')).status).toBe(200);
  });
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('It did not come to that.');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
