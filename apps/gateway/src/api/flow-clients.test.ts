import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { sendRaw } from '../../test/replay.ts';
import { type Service, startService } from '../../test/start-service.ts';

const FLOW = '/solr/my-collection';
const CORES = '/api/cores/my-collection';
const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';

let service: Service;
beforeAll(async () => {
  service = await startService();
  const documents = ['red', 'red-2', 'red-copy', 'blue'].map((picture) => ({
    id: picture,
    image: `http://pictures.example/${picture}.jpg`,
    n: picture.length,
  }));
  await post(`${CORES}/update?commit=true&openSearcher=true`, JSON_TYPE, JSON.stringify(documents));
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
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
    ['/select?rank.by=id:red&rows=1', ['red']],
    ['/select?rank.by=id:red&fq=-id:red&rows=2', ['red-copy', 'red-2']],
    ['/image?rank.by=id:red&rank.mode=default&rows=1', ['red']],
    ['/select?rank.by=url:http://pictures.example/blue.jpg&rank.mode=default&rank.threshold=0&rows=1', ['blue']],
    ['/select?rank.by=hex:0x1020D0&rank.mode=color&rank.threshold=0&rows=1', ['blue']],
    ['/color?rank.by.hex=0x1020D0&rows=1', ['blue']],
    ['/duplicate?dup.find=url:http://pictures.example/red.jpg', ['red', 'red-copy']],
    ['/duplicate?dup.find=id:red&dup.threshold=1', ['red']],
    ['/select?q=*&rows=0', []],
    ['/select?q*:*&rows=2&sort=id+asc', ['blue', 'red']],
    ['/select?&q=n:[5%20TO%20*]&sort=id%20asc', ['red-2', 'red-copy']],
    ['/select?q=n:[5+TO+*]&&sort=id+asc&', ['red-2', 'red-copy']],
    ['/select?textspace.true=nw,n&rows=1&sort=id+asc', ['blue']],
    ['/select?textspace.false=nw', []],
    ['/select?rank.by=id:red&rank.approximate=True&rows=1', ['red']],
    ['/select?q=*:*&rows=1&sort=id+asc&facet=True&facet.field=color_names', ['blue']],
  ])('%s', async (query, expected) => {
    for (const base of [FLOW, CORES]) expect(idsOf(await get(base + query))).toEqual(expected);
  });

  it.each([
    ['/select?rank.by=7', 'rank.by'],
    ['/select?rank.by=id:nobody', 'rank.by.id'],
    ['/select?textspace=any', 'textspace'],
    ['/select?defType=edismax', 'defType'],
    ['/select?wt=javabin', 'wt=json'],
  ])('%s is refused by name', async (query, name) => {
    const { port } = service.gateway;
    const response = await fetch(`http://127.0.0.1:${port}${FLOW}${query}`);
    const { error } = (await response.json()) as { error: { msg: string } };
    expect([400, 404]).toContain(response.status);
    expect(error.msg).toContain(name);
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

  it('with input.urls, as with input.url', async () => {
    const old = await get(`${FLOW}/analyze?input.urls=http://pictures.example/red.jpg`);
    expect(old).toEqual(await get(`${FLOW}/analyze?input.url=http://pictures.example/red.jpg`));
    expect(old.status).toBe(200);
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
