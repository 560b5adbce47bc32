import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { type Exchange, expectedOf, sendRaw } from '../../test/replay.ts';
import { ask, FORM_BODY, JSON_BODY, postJson, type TestRequest } from '../../test/start-gateway.ts';
import { useCollection, useService } from '../../test/start-service.ts';

const service = useService();

const REPLAYS = new URL('../../test/replays/', import.meta.url);

/*
 * What real clients of Solr sent, byte for byte, in their order. Each file is one session on an empty collection, with
 * the responses that the client understood. docs/clients.md says what each client can do.
 */
describe.each(readdirSync(REPLAYS).map((file) => file.replace(/\.json$/, '')))('%s', (client) => {
  it('gets the same responses as in the recording', async () => {
    const exchanges: Exchange[] = JSON.parse(readFileSync(new URL(`${client}.json`, REPLAYS), 'utf8'));
    expect(exchanges.length).toBeGreaterThan(3);
    await ask(service.gateway, '/api/cores/my-collection', { method: 'DELETE' });
    expect((await ask(service.gateway, '/api/cores/my-collection', { method: 'PUT' })).status).toBe(201);
    for (const [at, exchange] of exchanges.entries()) {
      const { request } = exchange;
      const sent = `${client} ${at}: ${request.slice(0, request.indexOf('\r\n'))}`;
      expect({ sent, ...(await sendRaw(service.gateway.port, request)) }).toEqual({ sent, ...expectedOf(exchange) });
    }
  });
});

describe('clients of Flow 4', () => {
  const FLOW = '/solr/flow';
  const CORES = useCollection(service, 'flow');
  const FORM = 'application/x-www-form-urlencoded';
  const JSON_TYPE = 'application/json';

  beforeAll(async () => {
    const documents = ['red', 'red-2', 'red-copy', 'blue'].map((picture) => ({
      id: picture,
      image: `http://pictures.example/${picture}.jpg`,
      n: picture.length,
    }));
    await post(`${CORES}/update?commit=true&openSearcher=true`, JSON_TYPE, JSON.stringify(documents));
  });

  /** The raw URL: brackets, asterisks and colons are not escaped. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into responses of all shapes
  const raw = async (request: string): Promise<{ status: number; response: any }> =>
    sendRaw(service.gateway.port, request.replace('\r\n', '\r\nHost: localhost:8983\r\n'));
  const get = (address: string) => raw(`GET ${address} HTTP/1.1\r\n\r\n`);
  const post = (address: string, type: string, body: string, headers = '') =>
    raw(`POST ${address} HTTP/1.1\r\nContent-Type: ${type}\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`);
  const idsOf = ({ status, response: body }: Awaited<ReturnType<typeof raw>>) =>
    status === 200 ? body.response.docs.map(({ id }: { id: string }) => id) : [status];

  describe('searches of Flow 4', () => {
    it.each<[string, unknown[]]>([
      ['/select?rank.by=id:red&rank.approximate=True&rows=1', ['red']],
      ['/color?rank.by.hex=0x1020D0&rows=1', ['blue']],
      ['/duplicate?dup.find=id:red&dup.threshold=1', ['red']],
      ['/select?q*:*&rows=2&sort=id+asc', ['blue', 'red']],
      ['/select?q=*:*&rows=1&sort=id+asc&facet=True&facet.field=color_names', ['blue']],
    ])('%s', async (query, expected) => {
      for (const base of [FLOW, CORES]) expect(idsOf(await get(base + query))).toEqual(expected);
    });
  });

  describe('pictures as text', () => {
    const BASE64 = Buffer.from('red').toString('base64');
    it.each([
      ['bare', BASE64],
      ['a data URI of another type', `data:image/tiff;base64,${BASE64}`],
      ['escaped', encodeURIComponent(`data:image/png;base64,${BASE64}`)],
    ])('%s', async (_, data) => {
      for (const name of ['rank.by.data=', 'rank.by=data:']) {
        expect(idsOf(await post(`${CORES}/image?logParamsList=&rows=1`, FORM, `${name}${data}`))).toEqual(['red']);
      }
      const { status, response: body } = await post(
        `${CORES}/analyze?modules.apply=duplicate`,
        FORM,
        `input.data=${data}`,
      );
      expect([status, body.outputs]).toEqual([200, outputsOf('red', ['duplicate'])]);
    });
  });

  describe('updates of Flow 4', () => {
    it('pxl_import is import, chunked bodies are read, and a commit may come with {} or nothing', async () => {
      const document = JSON.stringify([{ id: 'old', pxl_import: outputsOf('green'), n: 1 }]);
      const chunked = `${document.length.toString(16)}\r\n${document}\r\n0\r\n\r\n`;
      const added = await raw(
        `POST ${CORES}/update HTTP/1.1\r\nContent-Type: application/json; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
      );
      expect(added.status).toBe(200);
      for (const body of ['{}', '']) {
        const query = 'softCommit=true&openSearcher=true&waitSearcher=true';
        expect((await post(`${CORES}/update?${query}`, JSON_TYPE, body)).status).toBe(200);
      }
      expect((await raw(`POST ${CORES}/update?commit=True HTTP/1.1\r\nContent-Length: 0\r\n\r\n`)).status).toBe(200);
      expect(idsOf(await get(`${CORES}/color?rank.by.hex=0x10B020&rows=1`))).toEqual(['old']);
      expect((await post(`${FLOW}/update?commit=true`, JSON_TYPE, '{"delete":["old"]}')).status).toBe(200);
      expect((await get(`${CORES}/select?rows=0&q*:*`)).response.response.numFound).toBe(4);
    });

    it('says that a picture is not read from url', async () => {
      const { port } = service.gateway;
      const body = '[{"id":"u","url":"http://pictures.example/red.jpg"}]';
      const headers = { 'content-type': JSON_TYPE };
      const response = await fetch(`http://127.0.0.1:${port}${FLOW}/update`, { method: 'POST', body, headers });
      const { responseHeader } = (await response.json()) as { responseHeader: { warnings: string[] } };
      expect(responseHeader.warnings[0]).toContain('"image"');
    });
  });
});

describe('the paths of Solr', () => {
  const SOLR = '/solr/my-collection';
  const CORES = '/api/cores/my-collection';

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
      const commands = await postJson(service.gateway, `${SOLR}/update/json`, {
        add: { doc: { id: '1' } },
        commit: {},
      });
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
      [`${SOLR}/admin/ping/?wt=json&distrib=false&_=1700000000000`, {}],
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
      expect(all.json.status['my-collection']).toMatchObject({
        name: 'my-collection',
        index: { numDocs: 1, maxDoc: 1 },
      });
      expect((await send('/solr/admin/cores?core=my-collection')).json.status).toHaveProperty('my-collection.index');
      expect((await send('/solr/admin/cores?action=status&core=none')).json.status).toEqual({ none: {} });
      expect((await send('/solr/admin/cores?action=UNLOAD&core=my-collection')).status).toBe(400);
    });
  });

  describe('what Solr supports and akin does not', () => {
    it.each([
      ['/mlt?q=id:1&mlt.fl=title', 404, 'rank.by.id'],
      ['/spell/?q=x', 404, 'word~1'],
      ['/update/csv', 404, 'JSON or XML'],
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
      const xml = await send(`${SOLR}/update`, {
        body: new Uint8Array([2, 0]),
        headers: { 'content-type': 'application/javabin' },
      });
      expect([xml.status, xml.json.error.msg]).toEqual([415, expect.stringContaining('RequestWriter')]);
    });
  });
});
