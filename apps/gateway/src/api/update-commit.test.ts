import { gzipSync } from 'node:zlib';
import { ERROR_RESPONSE } from '@akin/contract';
import { describe, expect, it } from '@jest/globals';
import {
  createGateway,
  FORM_BODY,
  JSON_BODY,
  postJson,
  type TestRequest,
  testConfig,
} from '../../test/start-gateway.ts';
import { useService } from '../../test/start-service.ts';
import { CORES, SOLR, updatedService } from '../../test/updated-service.ts';

const service = useService();

const { post, send, ids } = updatedService(service);
const picture = (name: string) => `http://pictures.example/${name}.jpg`;

describe('a bare commit', () => {
  it('has many forms', async () => {
    const xml = { 'content-type': 'text/xml' };
    const forms: readonly (readonly [string, TestRequest])[] = [
      [`${SOLR}?commit=true`, {}],
      [`${CORES}?&commit=True&openSearcher=1&waitSearcher=on`, {}],
      [`${SOLR}/?softCommit=true`, { body: '', headers: JSON_BODY }],
      [`${CORES}?softCommit=true`, { body: '{}', headers: JSON_BODY }],
      [`${CORES}?softCommit=true`, { method: 'POST' }],
      [`${CORES}?optimize=true`, {}],
      [`${SOLR}?optimize=true`, { body: '   ', headers: JSON_BODY, chunked: true }],
      [SOLR, { body: '{"commit":{"waitSearcher":true,"expungeDeletes":false}}', headers: JSON_BODY }],
      [SOLR, { body: '{"optimize":{}}', headers: JSON_BODY }],
      [SOLR, { body: '<optimize/>', headers: xml }],
      [SOLR, { body: 'commit=true', headers: FORM_BODY }],
      [`${SOLR}?commit=true`, { body: gzipSync('{}'), headers: { ...JSON_BODY, 'content-encoding': 'gzip' } }],
    ];
    for (const [number, [path, options]] of forms.entries()) {
      await post(CORES, { id: `${number}` });
      expect(await ids()).toHaveLength(number);
      const response = await send(path, options);
      expect([path, options, response.status, response.json.responseHeader.status]).toEqual([path, options, 200, 0]);
      expect(response.json.responseHeader.token).toEqual(expect.any(String));
      expect(await ids()).toHaveLength(number + 1);
    }
  });

  it('is refused if it asks for nothing at all', async () => {
    expect((await send(CORES)).status).toBe(400);
    expect((await send(CORES, { method: 'POST' })).status).toBe(400);
    expect((await post(CORES, {})).status).toBe(400);
  });

  it('is accepted without effect', async () => {
    await post(CORES, { id: '1' });
    for (const options of [{}, { method: 'POST' }, { body: '{}', headers: JSON_BODY }]) {
      expect((await send(`${CORES}?prepareCommit=true`, options)).status).toBe(200);
    }
    expect(await ids()).toEqual([]);
  });

  it('accepts an empty array or command map', async () => {
    expect((await post(CORES, [])).status).toBe(200);
    expect((await post(SOLR, {})).status).toBe(200);
  });
});

describe('visibility', () => {
  it('is given by the commit, not by the change', async () => {
    await post(CORES, { id: '1' });
    expect(await ids()).toEqual([]);
    await post(`${CORES}?commit=true&openSearcher=false`, { id: '2' });
    expect(await ids()).toEqual([]);
    await post(`${CORES}?commit=true`, { id: '3' });
    expect(await ids()).toEqual(['1', '2', '3']);
  });

  it('is not caused by a negative commitWithin', async () => {
    await post(`${CORES}?commitWithin=-1`, { id: '1' });
    expect(await ids()).toEqual([]);
  });

  it('happens within commitWithin', async () => {
    const before = service.commits();
    const { json } = await post(`${CORES}?commitWithin=50`, { id: '1' });
    expect(await ids(`&after=${json.responseHeader.token}`)).toEqual(['1']);
    expect(service.commits()).toBeGreaterThan(before);
  });

  it('waits for the pictures of its own request, and of others with waitAnalysis', async () => {
    await service.pause();
    await post(`${CORES}?async=true`, { id: 'slow', image: picture('red') });
    await post(`${CORES}?commit=true`, { id: 'quick' });
    expect(await ids()).toEqual(['quick']);
    let answered = false;
    const all = post(`${CORES}?commit=true&waitAnalysis=true`, { id: 'last' }).finally(() => {
      answered = true;
    });
    for (const id of ['other', 'other']) await post(`${CORES}?commit=true`, { id });
    expect(answered).toBe(false);
    service.resume();
    expect((await all).status).toBe(200);
    expect(await ids()).toEqual(['last', 'other', 'quick', 'slow']);
  });

  it('is marked by a token that a search can wait for', async () => {
    await service.pause();
    const { json } = await post(`${CORES}?async=true`, { id: '1', image: picture('red') });
    const { token } = json.responseHeader;
    const late = await send(`/api/cores/my-collection/select?after=${token}&afterTimeout=100`);
    expect([late.status, late.headers['retry-after']]).toEqual([503, '1']);
    const waiting = ids(`&after=${token}`);
    service.resume();
    expect(await waiting).toEqual(['1']);
  });

  it('of everything before is marked by the token of a bare commit', async () => {
    await post(CORES, { id: '1' });
    const { json } = await send(`${CORES}?commit=true&openSearcher=false`);
    expect(await ids(`&after=${json.responseHeader.token}`)).toEqual(['1']);
  });

  it.each([
    'x',
    'YWtpbg',
    Buffer.from('akin1 99 1 1 my-collection').toString('base64url'),
    Buffer.from('akin1 1 1 999999 my-collection').toString('base64url'),
  ])('does not accept the foreign token %s', async (token) => {
    const response = await send(`/api/cores/my-collection/select?after=${token}`);
    expect([response.status, response.json.error.msg]).toEqual([400, expect.stringContaining('Parameter after')]);
  });
});

describe('pictures that cannot be fetched or decoded', () => {
  it('are listed in a 422, and the other documents are accepted and committed', async () => {
    const response = await post(`${CORES}?commit=true`, [
      { id: 'good', image: picture('red') },
      { id: 'bad', image: picture('broken') },
      { id: 'gone', image: picture('missing') },
    ]);
    expect(response.status).toBe(422);
    expect(response.json.error.details).toEqual([
      { position: 1, id: 'bad', code: 'image-undecodable', msg: expect.stringContaining('cut off') },
      { position: 2, id: 'gone', code: 'image-unreachable', msg: expect.stringContaining('404') },
    ]);
    expect(response.json.responseHeader).toMatchObject({ status: 422, token: expect.any(String) });
    expect(response.json.operations.count).toBe(3);
    expect(ERROR_RESPONSE.strict().safeParse(response.json).error).toBeUndefined();
    expect(await ids()).toEqual(['good']);
  });

  it('do not change an earlier version', async () => {
    await post(`${CORES}?commit=true`, { id: '1', v: 1 });
    expect((await post(`${CORES}?commit=true`, { id: '1', v: 2, image: picture('broken') })).status).toBe(422);
    expect(await ids('&q=v:1')).toEqual(['1']);
  });

  it('make an asynchronous operation fail', async () => {
    const { status, json } = await post(`${CORES}?async=true&commit=true`, { id: 'bad', image: picture('broken') });
    expect(status).toBe(202);
    const name = json.operations.first;
    expect(await ids(`&after=${json.responseHeader.token}`)).toEqual([]);
    const operation = await send(`/api/cores/my-collection/operations/${name}`);
    expect(operation.json).toMatchObject({
      operation: name,
      kind: 'add',
      id: 'bad',
      state: 'failed',
      reason: { code: 'image-undecodable', msg: 'The picture is cut off.' },
    });
    const failed = await send('/api/cores/my-collection/operations?state=failed&limit=1000');
    expect(failed.json.operations.at(-1).operation).toBe(name);
  });

  it('do not delay a response forever: accepted changes continue', async () => {
    await service.pause();
    const impatient = await createGateway(
      testConfig({ store: service.store, limits: { analysisWaitMilliseconds: 300 } }),
    );
    const response = await postJson(impatient, `${CORES}?commit=true`, { id: '1', image: picture('red') });
    await impatient[Symbol.asyncDispose]();
    expect([response.status, response.json.error.msg]).toEqual([
      503,
      expect.stringContaining('All changes are accepted'),
    ]);
  });
});

describe('updates in XML', () => {
  const CORES = '/api/cores/my-collection';
  const SOLR = '/solr/my-collection';
  const XML_BODY = { 'content-type': 'text/xml; charset=utf-8' };

  const { send } = updatedService(service);

  const xml = (path: string, body: string | Uint8Array, headers: Record<string, string> = XML_BODY) =>
    send(path, { body, headers });
  const docs = async (query = '') => (await send(`${CORES}/select?sort=id%20asc&rows=1000${query}`)).json.response.docs;
  const field = (name: string, value: string) => `<field name="${name}">${value}</field>`;
  const addOf = (...documents: string[][]) =>
    `<add>${documents.map((fields) => `<doc>${fields.join('')}</doc>`).join('')}</add>`;

  describe('an XML update', () => {
    it('is accepted at several addresses', async () => {
      const paths = [
        `${SOLR}/update`,
        `${SOLR}/update/`,
        `${SOLR}/update/xml`,
        `${CORES}/update`,
        `${CORES}/update/xml/`,
      ];
      for (const [number, path] of paths.entries()) {
        const response = await xml(
          `${path}?commit=true`,
          addOf([field('id', `a${number}`)], [field('id', `b${number}`)]),
        );
        expect([path, response.status, response.json.responseHeader.status, response.json.operations.count]).toEqual([
          ...[path, 200, 0, 2],
        ]);
      }
      expect(await docs()).toHaveLength(2 * paths.length);
    });

    it('stores what its texts mean, analyzes pictures, and warns about what it ignores', async () => {
      const fields = [
        field('id', '7'),
        field('x_price', '19.90'),
        field('x_added', '2024-01-31'),
        field('x_code', '007'),
        field('x_title', 'Schuh &amp; Söhne'),
        field('labels', 'red'),
        field('labels', '42'),
        field('image', 'http://pictures.example/red.jpg').replace('>', ' boost="3">'),
        field('x_none', ''),
        field('score', '0.5'),
      ];
      const { status, json } = await xml(`${SOLR}/update?commit=true`, addOf(fields));
      const ignored = [expect.stringContaining('boost'), expect.stringContaining('score')];
      expect([status, json.responseHeader.warnings]).toEqual([200, ignored]);
      expect(await docs('&q=x_price:[19%20TO%2020]')).toMatchObject([
        {
          id: '7',
          x_price: 19.9,
          x_added: '2024-01-31T00:00:00Z',
          x_code: '007',
          x_title: 'Schuh & Söhne',
          labels: ['red', '42'],
          color_names: ['red'],
        },
      ]);
      const { fields: types } = (await send(`${CORES}/schema`)).json.schema;
      expect(types.find(({ name }: { name: string }) => name === 'x_none')).toBeUndefined();
    });

    it('is all or nothing', async () => {
      const cut = await xml(`${SOLR}/update?commit=true`, `<add><doc>${field('id', '1')}</doc>`);
      expect([cut.status, cut.json.error.msg]).toEqual([400, expect.stringContaining('unclosed tag')]);
      expect(await docs()).toEqual([]);
    });

    it('is accepted only with a matching type', async () => {
      const add = addOf([field('id', '1')]);
      for (const [path, body, headers, wanted] of [
        [`${SOLR}/update/xml`, '[{"id":"1"}]', JSON_BODY, 'send application/xml'],
        [`${SOLR}/update/json`, add, XML_BODY, 'send application/json'],
        [`${SOLR}/update`, add, { 'content-type': 'text/xml; charset=ISO-8859-1' }, 'send UTF-8'],
        [`${SOLR}/update`, add, {}, 'or application/xml'],
      ] as const) {
        const response = await xml(path, body, headers);
        expect([response.status, response.json.error.msg]).toEqual([415, expect.stringContaining(wanted)]);
      }
      expect((await xml(`${SOLR}/update`, '')).status).toBe(400);
      expect((await xml(`${SOLR}/update?commit=true`, '')).status).toBe(200);
      expect((await xml(`${SOLR}/update`, `<!DOCTYPE add>${add}`)).status).toBe(400);
    });
  });
});
