import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, FORM_BODY, JSON_BODY, postJson, type TestRequest } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

const SOLR = '/solr/my-collection';
const CORES = '/api/cores/my-collection';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});
afterEach(async () => {
  await postJson(service.gateway, `${SOLR}/update?commit=true`, { delete: { query: '*:*' } });
});

const send = (path: string, options?: TestRequest) => ask(service.gateway, path, options);
const ids = async () => {
  const { json } = await send(`${SOLR}/select?fl=id&sort=id%20asc&rows=1000`);
  return json.response.docs.map(({ id }: { id: string }) => id);
};

describe('/update/json', () => {
  it.each([SOLR, CORES])('accepts documents, with or without a slash: %s', async (base) => {
    expect((await postJson(service.gateway, `${base}/update/json?commit=true`, [{ id: '1' }])).status).toBe(200);
    expect((await postJson(service.gateway, `${base}/update/json/?commit=true`, [{ id: '2' }])).status).toBe(200);
    expect(await ids()).toEqual(['1', '2']);
  });

  it('accepts commands below the legacy segment, and a document below the other one', async () => {
    const commands = await postJson(service.gateway, `${SOLR}/update/json`, { add: { doc: { id: '1' } }, commit: {} });
    expect(commands.status).toBe(200);
    const document = await postJson(service.gateway, `${CORES}/update/json?commit=true`, { id: '2' });
    expect(document.status).toBe(200);
    expect(await ids()).toEqual(['1', '2']);
  });

  it('commits with a bare GET', async () => {
    await postJson(service.gateway, `${SOLR}/update/json`, [{ id: '1' }]);
    expect((await send(`${SOLR}/update/json?commit=true`)).status).toBe(200);
    expect(await ids()).toEqual(['1']);
  });
});

describe('/update/json/docs', () => {
  it.each([SOLR, CORES])('accepts a single document, an array, and no commands: %s', async (base) => {
    const one = await postJson(service.gateway, `${base}/update/json/docs?commit=true`, { id: '1', title: 'one' });
    const two = await postJson(service.gateway, `${base}/update/json/docs/?commit=true`, [{ id: '2' }, { id: '3' }]);
    expect([one.status, two.status]).toEqual([200, 200]);
    expect(await ids()).toEqual(['1', '2', '3']);
    const command = await postJson(service.gateway, `${base}/update/json/docs`, { add: { doc: { id: '4' } } });
    expect([command.status, command.json.error.msg]).toEqual([
      400,
      expect.stringContaining('/solr/{collection}/update'),
    ]);
  });
});

describe('/query', () => {
  it('answers as /select does, indented by default', async () => {
    await postJson(service.gateway, `${SOLR}/update?commit=true`, [{ id: '1', title: 'a shoe' }, { id: '2' }]);
    for (const base of [SOLR, CORES]) {
      const laidOut = await send(`${base}/query?q=shoe&omitHeader=true`);
      expect(laidOut.text).toMatch(/^\{\n {2}"response": \{\n/);
      expect(laidOut.json).toEqual((await send(`${base}/select?q=shoe&omitHeader=true`)).json);
      expect((await send(`${base}/query/?q=shoe&omitHeader=true&indent=false`)).text).toMatch(/^\{"response":\{/);
    }
    expect((await send(`${SOLR}/select?q=shoe&omitHeader=true`)).text).toMatch(/^\{"response":\{/);
  });

  it('accepts JSON requests and forms, and indents its errors too', async () => {
    await postJson(service.gateway, `${SOLR}/update?commit=true`, [{ id: '1' }, { id: '2' }]);
    const json = await send(`${SOLR}/query`, { body: '{"query":"id:2","limit":1}', headers: JSON_BODY });
    expect(json.json.response.docs).toEqual([{ id: '2' }]);
    const form = await send(`${SOLR}/query`, { body: 'q=id:1', headers: FORM_BODY });
    expect(form.json.response.docs).toEqual([{ id: '1' }]);
    expect((await send(`${SOLR}/query?q=a+AND`)).text).toMatch(/^\{\n/);
  });
});

describe('/admin/ping', () => {
  it.each<[string, TestRequest]>([
    [`${SOLR}/admin/ping`, {}],
    [`${SOLR}/admin/ping?`, {}],
    [`${SOLR}/admin/ping/?wt=json&distrib=false&_=1700000000000`, {}],
    [`${SOLR}/admin/ping?action=PING`, {}],
    [`${SOLR}/admin/ping`, { body: 'wt=json', headers: FORM_BODY }],
    [`${CORES}/admin/ping`, {}],
  ])('%s %j', async (path, options) => {
    const { status, json } = await send(path, options);
    expect([status, json.status, json.responseHeader.status]).toEqual([200, 'OK', 0]);
  });

  it('answers HEAD too, is 404 without the collection, and disables nothing', async () => {
    expect((await send(`${SOLR}/admin/ping`, { method: 'HEAD' })).status).toBe(200);
    expect((await send('/solr/nowhere/admin/ping')).status).toBe(404);
    const off = await send(`${SOLR}/admin/ping?action=disable`);
    expect([off.status, off.json.error.msg]).toEqual([400, expect.stringContaining('action')]);
  });
});

describe('/get', () => {
  const CASES: [string, unknown][] = [
    ['id=a&fl=id', { doc: { id: 'a' } }],
    ['id=none', { doc: null }],
    ['id=b,c&fl=n', { doc: { n: 2 } }],
    ['ids=a&fl=id', { response: { numFound: 1, start: 0, numFoundExact: true, docs: [{ id: 'a' }] } }],
    ['ids=z,%20a,no&fl=n', { response: { numFound: 2, start: 0, numFoundExact: true, docs: [{ n: 3 }, { n: 1 }] } }],
    ['id=z&id=a&fl=n', { response: { numFound: 2, start: 0, numFoundExact: true, docs: [{ n: 3 }, { n: 1 }] } }],
  ];
  it.each(CASES)('%s', async (query, expected) => {
    const documents = [
      { id: 'a', n: 1 },
      { id: 'b,c', n: 2 },
      { id: 'z', n: 3 },
    ];
    await postJson(service.gateway, `${SOLR}/update?commit=true`, documents);
    for (const base of [SOLR, CORES]) {
      expect((await send(`${base}/get?${query}&omitHeader=true`)).json).toEqual(expected);
      const form = await send(`${base}/get`, { body: `${query}&omitHeader=true`, headers: FORM_BODY });
      expect(form.json).toEqual(expected);
    }
  });

  it.each(['', 'id=', 'id=a&fq=n:1', `ids=${Array.from({ length: 1001 }, (_, i) => i)}`])(
    'refuses %#',
    async (query) => {
      expect((await send(`${SOLR}/get?${query}`)).status).toBe(400);
    },
  );
});

describe('/admin/cores', () => {
  it('returns the state of all collections, of one, and of one that does not exist', async () => {
    await postJson(service.gateway, `${SOLR}/update?commit=true`, [{ id: 'a' }]);
    const all = await send('/solr/admin/cores?action=STATUS&wt=json');
    expect(all.json.status['my-collection']).toMatchObject({ name: 'my-collection', index: { numDocs: 1, maxDoc: 1 } });
    expect((await send('/solr/admin/cores?core=my-collection')).json.status).toHaveProperty('my-collection.index');
    expect((await send('/solr/admin/cores?action=status&core=none')).json.status).toEqual({ none: {} });
    expect((await send('/solr/admin/cores?action=UNLOAD&core=my-collection')).status).toBe(400);
  });
});

describe('/terms', () => {
  it.each<[string, unknown]>([
    ['', ['shoe', 2, 'bag', 1]],
    ['&json.nl=flat', ['shoe', 2, 'bag', 1]],
    ['&json.nl=map', { shoe: 2, bag: 1 }],
    [
      '&json.nl=arrarr',
      [
        ['shoe', 2],
        ['bag', 1],
      ],
    ],
    ['&json.nl=arrmap', [{ shoe: 2 }, { bag: 1 }]],
  ])('json.nl: %s', async (style, expected) => {
    const documents = [
      { id: '1', labels: ['shoe', 'bag'] },
      { id: '2', labels: 'shoe' },
    ];
    await postJson(service.gateway, `${SOLR}/update?commit=true`, documents);
    expect((await send(`${SOLR}/terms?terms=true&terms.fl=labels${style}`)).json.terms).toEqual({ labels: expected });
  });
});

describe('what Solr supports and akin does not', () => {
  it.each([
    ['/mlt?q=id:1&mlt.fl=title', 404, 'rank.by.id'],
    ['/spell/?q=x', 404, 'word~1'],
    ['/suggest?suggest=true', 404, '/terms'],
    ['/update/csv', 404, 'JSON or XML'],
    ['/admin/luke', 404, '/schema'],
    ['/select?qt=/mlt', 400, 'Parameter qt'],
    ['/select?qt=/select', 200, ''],
  ])('%s', async (path, status, message) => {
    for (const base of [SOLR, CORES]) {
      const response = await send(base + path);
      expect([response.status, response.json.error?.msg ?? '']).toEqual([status, expect.stringContaining(message)]);
    }
  });
});

describe('javabin', () => {
  it('is refused with an alternative', async () => {
    const response = await send(`${SOLR}/select?q=*:*&wt=javabin&version=2`);
    expect([response.status, response.json.error.msg]).toEqual([400, expect.stringMatching(/setParser|Parser\(\)/)]);
    const body = await send(`${SOLR}/update?wt=javabin&version=2`, {
      body: new Uint8Array([2, 0]),
      headers: { 'content-type': 'application/javabin' },
    });
    expect([body.status, body.json.error.msg]).toEqual([400, expect.stringContaining('Parser')]);
    const xml = await send(`${SOLR}/update`, {
      body: new Uint8Array([2, 0]),
      headers: { 'content-type': 'application/javabin' },
    });
    expect([xml.status, xml.json.error.msg]).toEqual([415, expect.stringContaining('RequestWriter')]);
  });
});
