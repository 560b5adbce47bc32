import { createCollection, findCollection } from '@akin/store/database';
import { dropCollection } from '@akin/store/maintenance';
import { listKeys } from '@akin/store/search';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ask, FORM_BODY, JSON_BODY } from '../../test/start-gateway.ts';
import { bearer, type Keyed, keyedGateways } from '../../test/start-keyed.ts';

const COLLECTION = '/api/cores/my-collection';
const PICTURE = 'https://pictures.example/red.png';

describe('keys', () => {
  let keyed: Keyed;
  const { as } = keyedGateways((started) => {
    keyed = started;
  });

  describe('a key', () => {
    const sent = (headers: Record<string, string>) => ask(keyed.gateway, `${COLLECTION}/select`, { headers });
    const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });

    it('may be a Bearer token, X-API-Key, or the password of Basic with any user', async () => {
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

    it('may not be in the URL or a cookie', async () => {
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
      ['more behind it', (key: string) => `${key}0`],
      ['SQL', () => "akin_' or 1=1 --"],
      ['nothing', () => ''],
    ])('is not %s', async (_, change) => {
      const text = change(keyed.keys.admin);
      expect((await sent({ 'x-api-key': text })).status).toBe(401);
      expect((await sent(basic(`admin:${text}`))).status).toBe(401);
    });

    it('is refused if it is sent twice, whichever one is right', async () => {
      const { search } = keyed.keys;
      const twice = { 'x-api-key': [search, 'akin_other'] } as unknown as Record<string, string>;
      expect((await sent(twice)).status).toBe(400);
    });

    it('is shown once, and only its hash is stored', async () => {
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

    it('expires at its time', async () => {
      const key = await keyed.make({ scope: 'search', expiresAt: new Date(Date.now() + 3_600_000) });
      expect((await as(key, `${COLLECTION}/select`)).status).toBe(200);
      await keyed.store.engine.query('update akin.keys set expires_at = now() where id = $1', [key.slice(5, 17)]);
      // A process that has its database for itself reads the keys again only after its own changes.
      await keyed.make({ scope: 'search' });
      await until(async () => (await as(key, `${COLLECTION}/select`)).status === 401);
      const response = await as(key, `${COLLECTION}/select`);
      expect(response.json.error.msg).toContain('has expired');
    });

    it('records when it was last used', async () => {
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
      ['scope=search&collections=nowhere', 'nowhere'],
      ['scope=search&rate=fast', 'rate'],
    ])('is not created from %p', async (body, message) => {
      const response = await ask(keyed.gateway, '/api/keys', {
        body,
        headers: { ...FORM_BODY, ...bearer(keyed.keys.admin) },
      });
      expect([400, 404]).toContain(response.status);
      expect(response.json.error.msg).toContain(message);
    });
  });

  it('revokes a key in every gateway within seconds, and accepts a new one at once', async () => {
    const { json: made } = await ask(keyed.gateway, '/api/keys', {
      body: 'scope=index',
      headers: { ...FORM_BODY, ...bearer(keyed.keys.admin) },
    });
    const at = (gateway: Keyed['gateway']) => ask(gateway, `${COLLECTION}/operations`, { headers: bearer(made.key) });
    expect([(await at(keyed.gateway)).status, (await at(keyed.other)).status]).toEqual([200, 200]);
    const gone = await as(keyed.keys.admin, `/api/keys/${made.id}`, 'DELETE');
    expect(gone.status).toBe(200);
    expect((await at(keyed.gateway)).status).toBe(401);
    await until(async () => (await at(keyed.other)).status === 401);
    expect((await as(keyed.keys.admin, `/api/keys/${made.id}`, 'DELETE')).status).toBe(404);
  });

  it('ends long responses when their key is revoked', async () => {
    const { json: made } = await ask(keyed.other, '/api/keys', {
      body: 'scope=index',
      headers: { ...FORM_BODY, ...bearer(keyed.keys.admin) },
    });
    const response = await fetch(`${keyed.gateway.url}${COLLECTION}/operations/stream`, { headers: bearer(made.key) });
    const ended = response.text().then(
      () => 'ended',
      () => 'ended',
    );
    const other = as(keyed.keys.search, '/api/cores').then(() => 'goes on');
    expect([response.status, await Promise.race([ended, other])]).toEqual([200, 'goes on']);
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
      '/api/cores/%73ecret/select',
      '/solr/secret/admin/ping',
    ])('gives no access to %s', async (path) => {
      const response = await as(key, path);
      expect([response.status, response.json.error.msg]).toEqual([403, expect.stringContaining('is only for mine')]);
    });

    it('takes no outputs from another collection for a reindex', async () => {
      const response = await as(admin, '/api/cores/mine/reindex?outputsFrom=secret', 'POST');
      expect([response.status, response.json.error.msg]).toEqual([403, 'This key is not for the collection "secret".']);
    });

    it('sees no others, by name or in lists', async () => {
      expect((await as(key, '/api/cores')).json.collections.map((one: { name: string }) => one.name)).toEqual(['mine']);
      expect(Object.keys((await as(key, '/solr/admin/cores')).json.status)).toEqual(['mine']);
      expect((await as(key, '/solr/admin/cores?core=secret')).json.status).toEqual({ secret: {} });
    });

    it('cannot be used to create another key, or to read metrics', async () => {
      for (const path of ['/api/keys', '/metrics']) expect((await as(admin, path)).status).toBe(403);
      const made = await ask(keyed.gateway, '/api/keys', {
        body: 'scope=admin',
        headers: { ...FORM_BODY, ...bearer(admin) },
      });
      expect(made.status).toBe(403);
      expect((await as(admin, '/api/cores/other', 'PUT')).status).toBe(403);
    });

    it('gives no access to a later collection of the same name', async () => {
      const fleeting = await createCollection(keyed.store, 'fleeting');
      const old = await keyed.make({ scope: 'search', collections: ['fleeting'] });
      expect((await as(old, '/api/cores/fleeting/select')).status).toBe(200);
      await dropCollection(keyed.store, fleeting);
      await createCollection(keyed.store, 'fleeting');
      await until(async () => (await as(old, '/api/cores/fleeting/select')).status === 403);
      expect((await findCollection(keyed.store, 'fleeting')).id).not.toBe(fleeting.id);
    });
  });

  it('shows a trash only to keys that may change documents, or that name it', async () => {
    await createCollection(keyed.store, 'shop.trash');
    const named = await keyed.make({ scope: 'search', collections: ['shop.trash'] });
    const { search, index } = keyed.keys;
    const seen = async (key: string) => {
      const { status } = await as(key, '/api/cores/shop.trash/select');
      const { json } = await as(key, '/api/cores');
      return [status, json.collections.some(({ name }: { name: string }) => name === 'shop.trash')];
    };
    expect(await Promise.all([search, named, index].map(seen))).toEqual([
      [403, false],
      [200, true],
      [200, true],
    ]);
    const { json } = await as(search, '/api/cores/shop.trash/select');
    expect(json.error.msg).toContain('must name it');
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

    it('lets pages of its origin send requests and read responses', async () => {
      // Preflight requests contain no key: a new origin is known after the next read of the keys.
      await until(async () => 'access-control-allow-origin' in (await preflight(origin)).headers);
      const allowed = await preflight(origin);
      expect([allowed.status, allowed.headers['access-control-allow-origin']]).toEqual([204, origin]);
      expect(allowed.headers['access-control-allow-headers']).toMatch(/Authorization, X-API-Key/);
      expect(allowed.headers).not.toHaveProperty('access-control-allow-credentials');
      for (const response of [
        await from(origin, `${COLLECTION}/select`),
        await from(origin, `${COLLECTION}/select`, { body: 'q=*:*' }),
      ]) {
        expect([response.status, response.headers['access-control-allow-origin']]).toEqual([200, origin]);
        expect(response.headers.vary).toContain('Origin');
      }
    });

    it.each(['https://evil.example', 'https://shop.example.evil.example', 'https://shop.example:8443'])(
      'is useless to pages of %s',
      async (foreign) => {
        expect((await preflight(foreign)).headers).not.toHaveProperty('access-control-allow-origin');
        const response = await from(foreign, `${COLLECTION}/select`);
        expect([response.status, response.headers['access-control-allow-origin']]).toEqual([403, undefined]);
      },
    );

    it('gives its pages no access with another key', async () => {
      expect((await from(origin, `${COLLECTION}/select`, { key: keyed.keys.index })).status).toBe(403);
      expect((await from(origin, `${COLLECTION}/update?commit=true`, { key: keyed.keys.index, body: '' })).status).toBe(
        403,
      );
    });

    it.each([
      ['image', `rank.by.url=${PICTURE}`],
      ['image', `rank.by=url:${PICTURE}`],
      ['duplicate', `dup.find=url:${PICTURE}`],
      ['tag', `tagging.input.url=${PICTURE}`],
    ])('does not make akin fetch anything with /%s?%s', async (endpoint, parameters) => {
      for (const response of [
        await from(origin, `${COLLECTION}/${endpoint}?${parameters}`),
        await from(origin, `${COLLECTION}/${endpoint}`, { body: parameters }),
        await as(keyed.keys.search, `${COLLECTION}/${endpoint}?${parameters}`),
      ]) {
        // Labels are searched before the picture.
        if (endpoint === 'tag' && response.status === 400) continue;
        expect([response.status, response.json.error.msg]).toEqual([403, expect.stringContaining('fetch a URL')]);
      }
      const asIndex = async (headers: Record<string, string>) =>
        (await as(keyed.keys.index, `${COLLECTION}/${endpoint}?${parameters}`, 'GET', headers)).status;
      expect(await asIndex({})).not.toBe(403);
      if (endpoint !== 'tag') expect(await asIndex({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    });

    it.each(['analyze', 'update', 'operations', 'export'])('gives no access to /%s', async (endpoint) => {
      expect((await from(origin, `${COLLECTION}/${endpoint}`)).status).toBe(403);
    });
  });
});

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 50));
}
