import { setImmediate } from 'node:timers/promises';
import { ENDPOINTS, type EndpointName } from '@akin/contract';
import { AkinError } from '@akin/domain';
import type { Store } from '@akin/store/changes';
import { createCollection, findCollection } from '@akin/store/database';
import { describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { ask, createGateway, postJson, type TestResponse, testConfig } from '../../test/start-gateway.ts';
import { useService } from '../../test/start-service.ts';

const service = useService();
const C = '/api/cores/my-collection';
const get = (path: string, headers = {}) => ask(service.gateway, path, { headers });

describe('collections', () => {
  it('are listed, created and dropped', async () => {
    const before = await get('/api/cores');
    expect(before.json.collections.map(({ name }: { name: string }) => name)).toEqual(['my-collection']);
    conforms('collections', before);
    const created = await ask(service.gateway, '/api/cores/shop.2', {
      method: 'PUT',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    });
    expect([created.status, created.json.name, created.json.documents]).toEqual([201, 'shop.2', 0]);
    conforms('createCollection', created);
    expect((await ask(service.gateway, '/api/cores/shop.2', { method: 'PUT' })).status).toBe(409);
    expect((await get('/solr')).json.collections).toHaveLength(2);
    expect((await ask(service.gateway, '/api/cores/shop.2', { method: 'DELETE' })).status).toBe(200);
    expect((await ask(service.gateway, '/api/cores/shop.2', { method: 'DELETE' })).status).toBe(404);
  });

  it('are not created with a model that no analyzer can use', async () => {
    const { store } = service;
    const made = { ...store, models: new Map([['content', 'clip:1']]) };
    const modelSets = { ofName: async () => made } as unknown as Store['modelSets'];
    const analyze = () => Promise.reject(new AkinError('conflict', 'No analyzer can use the content model clip:1.'));
    await using gateway = await createGateway(testConfig({ store: { ...store, modelSets }, analyze }));
    const refused = await ask(gateway, '/api/cores/never?model=clip', { method: 'PUT' });
    expect([refused.status, refused.json.error.msg]).toEqual([409, expect.stringContaining('clip:1')]);
    expect((await get('/api/cores/never')).status).toBe(404);
  });

  it('analyze pictures by their modules, also apart from indexing', async () => {
    const P = '/api/cores/with-parts';
    expect((await ask(service.gateway, `${P}?modules=color,parts`, { method: 'PUT' })).status).toBe(201);
    const analyzed = async (query = '') =>
      Object.keys(JSON.parse((await get(`${P}/analyze?input.url=http://a.example/red.jpg${query}`)).json.outputs));
    const outputs = await analyzed();
    expect(outputs).toEqual(expect.arrayContaining(['color_descriptor', 'parts_points']));
    expect(outputs).not.toContain('content_descriptor');
    expect(await analyzed('&modules.apply=content')).toEqual(['content_descriptor']);
    await ask(service.gateway, P, { method: 'DELETE' });
  });

  it('have the requested number of shards, and search all of them', async () => {
    const S = '/api/cores/sharded';
    const created = await ask(service.gateway, `${S}?shards=4`, { method: 'PUT' });
    expect([created.status, created.json.shards]).toEqual([201, 4]);
    conforms('createCollection', created);
    const documents = Array.from({ length: 30 }, (_, i) => ({ id: `d${i}`, n: i, import: outputsOf('red') }));
    await postJson(service.gateway, `${S}/update?commit=true`, documents);
    expect((await get(S)).json).toMatchObject({ shards: 4, documents: 30 });
    const found = (await get(`${S}/select?q=n:[5+TO+*]&rows=3&sort=n+desc&facet=true&facet.query=n:[0+TO+9]`)).json;
    expect(found.response.docs.map(({ id }: { id: string }) => id)).toEqual(['d29', 'd28', 'd27']);
    expect([found.response.numFound, found.facet_counts.facet_queries]).toEqual([25, { 'n:[0 TO 9]': 5 }]);
    expect((await get(`${S}/image?rank.by.id=d7&rows=2`)).json.response).toMatchObject({ numFound: 30, maxScore: 1 });
    for (const shards of ['0', '65', 'x', '1.5', '']) {
      const refused = await ask(service.gateway, `/api/cores/refused?shards=${shards}`, { method: 'PUT' });
      expect([shards, refused.status, refused.json.error?.msg]).toEqual([
        shards,
        400,
        expect.stringContaining('shards'),
      ]);
      expect((await postJson(service.gateway, `${S}/reindex?shards=${shards}`, {})).status).toBe(400);
    }
    expect((await get(C)).json.shards).toBe(1);
    await ask(service.gateway, S, { method: 'DELETE' });
  });

  it('have quotas', async () => {
    const Q = '/api/cores/limited';
    const put = (path: string) => ask(service.gateway, path, { method: 'PUT' });
    const made = await put(`${Q}?maxDocuments=2`);
    expect([made.status, made.json]).toMatchObject([201, { bytes: 0, maxDocuments: 2, maxBytes: null }]);
    const refused = await postJson(service.gateway, `${Q}/update?commit=true`, [{ id: 'a' }, { id: 'b' }, { id: 'c' }]);
    expect([refused.status, refused.json.error]).toMatchObject([
      507,
      { metadata: ['error-class', 'quota-exceeded'], msg: expect.stringContaining('may have 2 documents') },
    ]);
    // Its rows do not stay either.
    const { sqlSchema: S } = await findCollection(service.store, 'limited');
    while ((await service.store.engine.query(`select from ${S}.operations`)).length > 0) await setImmediate();
    await postJson(service.gateway, `${Q}/update?commit=true`, [{ id: 'a' }, { id: 'b' }]);
    const raised = await put(`${Q}/quota?maxDocuments=3&maxBytes=5`);
    conforms('setQuota', raised);
    expect(raised.json).toMatchObject({ documents: 2, bytes: 2, maxDocuments: 3, maxBytes: 5 });
    const tooLarge = await postJson(service.gateway, `${Q}/update`, { id: 'c', text1: 'x'.repeat(100) });
    expect([tooLarge.status, tooLarge.json.error.msg]).toEqual([507, expect.stringContaining('may have 5 bytes')]);
    const body = { method: 'PUT', body: '{"maxDocuments":4}', headers: { 'content-type': 'application/json' } };
    expect((await ask(service.gateway, `${Q}/quota`, body)).json).toMatchObject({ maxDocuments: 4, maxBytes: null });
    for (const quota of ['maxDocuments=-1', 'maxBytes=x', 'maxBytes=1.5', 'maxDocuments=99999999999999999']) {
      expect([quota, (await put(`${Q}/quota?${quota}`)).status]).toEqual([quota, 400]);
      expect([quota, (await put(`/api/cores/refused?${quota}`)).status]).toEqual([quota, 400]);
    }
    expect((await put('/api/cores/nothing/quota')).status).toBe(404);
    await ask(service.gateway, Q, { method: 'DELETE' });
  });

  it('have names with a restricted syntax', async () => {
    for (const name of ['-x', 'a%20b', 'a%2Fb', '%F0%9F%91%9F', 'a'.repeat(101), '%2e%2e']) {
      const put = await ask(service.gateway, `/api/cores/${name}`, { method: 'PUT' });
      expect([name, put.status]).toEqual([name, 400]);
      expect([name, (await get(`/api/cores/${name}`)).status]).toEqual([name, 404]);
    }
  });

  it('report their state', async () => {
    await postJson(service.gateway, `${C}/update?commit=true`, [{ id: '1' }, { id: '2' }]);
    await postJson(service.gateway, `${C}/update`, [{ id: '3' }]);
    const status = await get(C);
    expect(status.json).toMatchObject({ name: 'my-collection', documents: 2, pending: 1, failed: 0 });
    expect(Date.parse(status.json.committedAt)).toBeGreaterThan(Date.now() - 60_000);
    conforms('collectionStatus', status);
  });

  it('list their fields', async () => {
    await postJson(service.gateway, `${C}/update?commit=true`, [
      { id: '1', n: 5, 'naïve name': 'x', day: '2024-01-31' },
    ]);
    const response = await get(`${C}/schema`);
    conforms('schema', response);
    const types = Object.fromEntries(
      response.json.schema.fields.map((field: { name: string; type: string; multiValued: boolean }) => [
        field.name,
        `${field.type}${field.multiValued ? '[]' : ''}`,
      ]),
    );
    expect(types).toMatchObject({
      id: 'string',
      labels: 'string[]',
      location: 'location',
      text: 'text[]',
      n: 'long',
      'naïve name': 'string',
      day: 'date',
      copyspace: 'long[]',
      color_isolated: 'boolean',
      color_palette_freq: 'double[]',
    });
  });

  describe('accept field definitions of Solr clients', () => {
    const define = (body: unknown, base = '/solr/my-collection') => postJson(service.gateway, `${base}/schema`, body);
    const typesOf = async () => {
      const { json } = await get(`${C}/schema`);
      return Object.fromEntries(
        json.schema.fields.map(({ name, type }: { name: string; type: string }) => [name, type]),
      );
    };

    it('one or several, with the types of Solr', async () => {
      const one = await define({ 'add-field': { name: 'weight_f', type: 'pfloat', multiValued: false, stored: true } });
      expect([one.status, one.json]).toEqual([200, { responseHeader: { status: 0, QTime: expect.any(Number) } }]);
      conforms('defineFields', one);
      const several = await define(
        {
          'add-field': [
            { name: 'count_i', type: 'pint' },
            { name: 'about', type: 'text_general', indexed: true, required: false },
            { name: 'seen', type: 'pdate' },
            { name: 'sold', type: 'boolean' },
            // These fields exist.
            { name: 'labels', type: 'string', multiValued: true },
            { name: 'location', type: 'location' },
            { name: 'id', type: 'string', required: true },
          ],
        },
        C,
      );
      expect([several.status, several.json.error]).toEqual([200, undefined]);
      expect(await typesOf()).toMatchObject({
        weight_f: 'double',
        count_i: 'long',
        about: 'string',
        seen: 'date',
        sold: 'boolean',
      });
      // A repetition does no harm. Another type is a conflict.
      expect((await define({ 'add-field': { name: 'count_i', type: 'plong' } })).status).toBe(200);
      expect((await define({ 'add-field': { name: 'count_i', type: 'pdouble' } })).status).toBe(409);
    });

    it('may repeat a command, as in Solr', async () => {
      const body = '{"add-field":{"name":"r1","type":"long"},"add-field":{"name":"r2","type":"date"}}';
      const headers = { 'content-type': 'application/json' };
      expect((await ask(service.gateway, `${C}/schema`, { method: 'POST', body, headers })).status).toBe(200);
      expect(await typesOf()).toMatchObject({ r1: 'long', r2: 'date' });
    });

    it.each([
      [{ 'add-field': { name: 'score', type: 'pfloat' } }, /"score".*another meaning/],
      [{ 'add-field': { name: 'x', type: 'currency' } }, /type "currency".*pdouble/],
      [{ 'add-field': { type: 'string' } }, /needs a name/],
      [{ 'add-field': { name: 'x', type: 'boolean', multiValued: true } }, /no lists of booleans/],
      [{ 'add-field': { name: 'x', type: 'string', required: true } }, /cannot be required/],
      [{ 'add-field': { name: 'x', type: 'pint', default: 0 } }, /or have a default/],
      [{ 'add-field': { name: 'place', type: 'location' } }, /the field "location"/],
      [{ 'replace-field': { name: 'n', type: 'string' } }, /reindex/],
      [{ 'add-copy-field': { source: 'a', dest: ['b', 'c'] } }, /"text"/],
      [{ 'set-similarity': { class: 'x' } }, /set-similarity/],
    ])('and refuse others with what is possible: %j', async (body, message) => {
      const before = await typesOf();
      const response = await define(body);
      expect([response.status, response.json.error.msg]).toEqual([400, expect.stringMatching(message)]);
      // No other field is defined either.
      expect((await define({ field: ['beside:long'], ...body })).status).toBe(400);
      expect(await typesOf()).toEqual(before);
    });
  });

  it('are not reindexed for a field, or from a collection, that does not exist', async () => {
    const response = await postJson(service.gateway, `${C}/reindex?field=prise:double`, {});
    expect([response.status, response.json.error.msg]).toEqual([400, expect.stringContaining('no field "prise"')]);
    expect((await postJson(service.gateway, `${C}/reindex?outputsFrom=nowhere`, {})).status).toBe(404);
    expect((await get(`${C}/reindex`)).status).toBe(404);
  });

  it('have one reindex at a time, which continues after a pause', async () => {
    const { engine } = service.store;
    await createCollection(service.store, 'twice');
    await engine.query(
      `insert into akin.reindexes (name, state, holder, heartbeat_at)
       values ('twice', 'copying', 'another', now() + interval '1 hour')`,
    );
    const T = '/api/cores/twice/reindex';
    const second = await postJson(service.gateway, T, {});
    expect([second.status, second.json.error.msg]).toEqual([
      409,
      expect.stringContaining('is being reindexed already'),
    ]);
    const paused = await postJson(service.gateway, `${T}/pause`, {});
    expect([paused.status, paused.json]).toEqual([200, expect.objectContaining({ state: 'paused', alive: false })]);
    conforms('pauseReindex', paused);
    const gone = await postJson(service.gateway, `${T}/resume`, {});
    expect([gone.status, gone.json.error.msg]).toEqual([409, expect.stringContaining('Start a new reindex')]);
    // It may be done already.
    const begun = await postJson(service.gateway, T, {});
    expect([begun.status, begun.json.error]).toEqual([202, undefined]);
    conforms('reindex', begun);
    expect((await postJson(service.gateway, `${T}?model=nothing`, {})).status).toBe(400);
    expect((await get('/api/cores/never/reindex')).status).toBe(404);
  });

  it('check themselves', async () => {
    const response = await get('/solr/my-collection/pixolution');
    expect([response.status, response.json.status]).toEqual([200, 'OK']);
    conforms('pixolution', response);
    expect((await get('/solr/nowhere/pixolution')).status).toBe(404);
  });
});

describe('a store that is down', () => {
  it('is a 503 at every endpoint but liveness, with Retry-After and nothing internal', async () => {
    const down = () =>
      Promise.reject(
        new AkinError('unavailable', 'The database does not answer.', { cause: new Error('ECONNREFUSED 10.0.0.7') }),
      );
    const { memory } = testConfig().store;
    const store = { engine: { query: down, read: down, transaction: down }, ping: down, memory } as unknown as Store;
    const gateway = await createGateway(testConfig({ store }));
    for (const path of [`${C}/admin/ping`, `${C}/select`, '/health/ready', C]) {
      const response = await ask(gateway, path);
      expect([path, response.status, response.headers['retry-after']]).toEqual([path, 503, '5']);
      expect(response.text).not.toContain('10.0.0.7');
    }
    expect((await ask(gateway, '/health/live')).status).toBe(200);
    await gateway[Symbol.asyncDispose]();
  });

  it('is ready when it answers', async () => {
    expect((await get('/health/ready')).json).toEqual({ status: 'OK' });
    expect((await get('/metrics')).text).toContain('akin_up 1');
  });
});

describe('thumbnails', () => {
  it('are sent with an ETag, and not again while it is valid', async () => {
    const webp = Buffer.concat([Buffer.from('RIFF0000WEBP'), Buffer.alloc(20)]);
    await postJson(service.gateway, `${C}/update?commit=true`, [
      { id: 'a b', import: outputsOf('red'), thumbnail: `data:image/webp;base64,${webp.toString('base64')}` },
    ]);
    const path = `${C}/thumbnail?id=a%20b`;
    const first = await get(path);
    expect([first.status, first.headers['content-type'], first.text]).toEqual([200, 'image/webp', webp.toString()]);
    const again = await get(path, { 'if-none-match': `W/"x", ${first.headers.etag}` });
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', first.headers.etag]);
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    expect((await ask(service.gateway, path, { method: 'HEAD' })).headers['content-length']).toBe(String(webp.length));
  });

  it('are a 404 if there is none', async () => {
    const { status, json } = await get(`${C}/thumbnail?id=%22nobody`);
    expect([status, json.error.msg]).toEqual([404, expect.stringContaining('no thumbnail of "\\"nobody"')]);
    expect((await get(`${C}/thumbnail?id=2`)).status).toBe(404);
    expect((await get(`${C}/thumbnail`)).status).toBe(400);
  });
});

describe('operations', () => {
  it('are listed in their order, in pages, and by state', async () => {
    await ask(service.gateway, '/api/cores/ops', { method: 'PUT' });
    await postJson(service.gateway, '/api/cores/ops/update?commit=true', [{ id: 'a' }, { id: 'b' }]);
    await postJson(service.gateway, '/solr/ops/update', { delete: { query: 'id:a' } });
    const first = await get('/api/cores/ops/operations?limit=2');
    conforms('operations', first);
    expect(
      first.json.operations.map((one: Record<string, unknown>) => [one.operation, one.kind, one.id, one.state]),
    ).toEqual([
      ['ops-1', 'add', 'a', 'visible'],
      ['ops-2', 'add', 'b', 'visible'],
    ]);
    const second = await get(`/api/cores/ops/operations?limit=2&cursor=${first.json.nextCursor}`);
    expect(second.json.operations.map((one: Record<string, unknown>) => [one.operation, one.kind, one.state])).toEqual([
      ['ops-3', 'delete-by-query', 'ready'],
    ]);
    expect(second.json.nextCursor).toBeUndefined();
    expect((await get('/api/cores/ops/operations?state=ready')).json.operations).toHaveLength(1);
    expect((await get('/api/cores/ops/operations/ops-1')).json).toMatchObject({ operation: 'ops-1', state: 'visible' });
  });

  it.each([
    ['/operations/ops-99', 404],
    ['/operations/other-1', 404],
    ['/operations/ops-x', 404],
    ['/operations?state=lost', 400],
    ['/operations?limit=0', 400],
    ['/operations?cursor=x', 400],
  ])('are a clear error at %s', async (path, status) => {
    expect((await get(`/api/cores/ops${path}`)).status).toBe(status);
  });
});

function conforms(name: EndpointName, response: TestResponse): void {
  const shape = ENDPOINTS[name].response;
  if (typeof shape === 'string') throw new Error(`${name} does not answer JSON`);
  expect(shape.safeParse(response.json).error?.issues ?? []).toEqual([]);
}
