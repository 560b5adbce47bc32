import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { JSON_BODY } from '../../test/start-gateway.ts';
import type { Service } from '../../test/start-service.ts';
import { updatedService } from '../../test/updated-service.ts';

const CORES = '/api/cores/my-collection';
const SOLR = '/solr/my-collection';
const XML_BODY = { 'content-type': 'text/xml; charset=utf-8' };

let service: Service;
const { post, send } = updatedService((started) => {
  service = started;
});

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

  it('gives a new field the type of its text, and accepts several labels', async () => {
    const fields = [
      field('id', '7'),
      field('x_stock', '12'),
      field('x_price', '19.90'),
      field('x_sale', 'true'),
      field('x_added', '2024-01-31'),
      field('x_code', '007'),
      field('x_title', 'Schuh &amp; Söhne'),
      field('labels', 'red'),
      field('labels', '42'),
      field('location', '52.5,13.4'),
      field('x_none', ''),
    ];
    expect((await xml(`${SOLR}/update?commit=true`, addOf(fields))).status).toBe(200);
    const { text } = await send(`${CORES}/select?q=id:7&omitHeader=true`);
    for (const part of ['"x_stock":12,', '"x_price":19.9', '"x_sale":true', '"x_code":"007"']) {
      expect(text).toContain(part);
    }
    expect(await docs('&q=x_stock:[12%20TO%2012]%20AND%20x_price:[19%20TO%2020]')).toEqual([
      {
        id: '7',
        x_stock: 12,
        x_price: 19.9,
        x_sale: true,
        x_added: '2024-01-31T00:00:00Z',
        x_code: '007',
        x_title: 'Schuh & Söhne',
        labels: ['red', '42'],
        location: '52.5,13.4',
      },
    ]);
    const types = await fieldTypes();
    const json = '{"id":"json","j_stock":12,"j_price":19.9,"j_sale":true,"j_added":"2024-01-31","j_code":"007"}';
    await post(`${CORES}/update?commit=true`, json);
    const typesOfJson = await fieldTypes();
    for (const name of ['stock', 'price', 'sale', 'added', 'code']) {
      expect(types.get(`x_${name}`)).toBe(typesOfJson.get(`j_${name}`));
    }
    expect(types.has('x_none')).toBe(false);
  });

  it('converts texts to the type of existing fields, and keeps numbers in Strings as they were written', async () => {
    const first = { id: '1', y_name: 'a', y_count: 1, y_rate: 1.5, y_on: true };
    await post(`${CORES}/update?commit=true`, first);
    const fields = [field('id', '2'), field('y_name', '1.50'), field('y_count', '2'), field('y_rate', '3')];
    expect((await xml(`${SOLR}/update?commit=true`, addOf([...fields, field('y_on', 'false')]))).status).toBe(200);
    expect(await docs('&q=id:2')).toEqual([{ id: '2', y_name: '1.50', y_count: 2, y_rate: 3, y_on: false }]);
    const bad = await xml(`${SOLR}/update`, addOf([field('id', '3'), field('y_count', 'many')]));
    expect([bad.status, bad.json.error.msg]).toEqual([400, expect.stringContaining('y_count')]);
  });

  it('is all or nothing, and lists every bad document', async () => {
    const repeated = [field('id', '2'), field('title', 'a'), field('title', 'b')];
    const response = await xml(
      `${SOLR}/update?commit=true`,
      addOf([field('id', '1')], repeated, [field('title', 'c')]),
    );
    expect(response.status).toBe(400);
    expect(response.json.error.details).toEqual([
      expect.objectContaining({ position: 1, id: '2', msg: expect.stringContaining('is given twice') }),
      expect.objectContaining({ position: 2, msg: expect.stringContaining('"id" is required') }),
    ]);
    expect(await docs()).toEqual([]);
    const cut = await xml(`${SOLR}/update?commit=true`, `<add><doc>${field('id', '1')}</doc>`);
    expect([cut.status, cut.json.error.msg]).toEqual([400, expect.stringContaining('unclosed tag')]);
    expect(await docs()).toEqual([]);
  });

  it('deletes by id and by query, and commits on its own', async () => {
    const numbers = Array.from({ length: 6 }, (_, i) => [field('id', String(i)), field('z_n', String(i))]);
    await xml(`${SOLR}/update`, `<update>${addOf(...numbers)}<commit/></update>`);
    expect(await docs()).toHaveLength(6);
    await xml(`${SOLR}/update`, '<delete><id>0</id><id>1</id></delete>');
    await xml(`${SOLR}/update`, '<delete><query>z_n:[4 TO *]</query></delete>');
    expect(await docs()).toHaveLength(6);
    expect((await xml(`${SOLR}/update`, '<commit waitSearcher="true"/>')).status).toBe(200);
    expect(await docs('&fl=id')).toEqual([{ id: '2' }, { id: '3' }]);
    expect((await xml(`${SOLR}/update?commit=true`, '<optimize />')).status).toBe(200);
    const bad = await xml(`${SOLR}/update`, '<delete><query>nowhere:1</query></delete>');
    expect([bad.status, bad.json.error.msg]).toEqual([400, expect.stringContaining('nowhere')]);
  });

  it('commits within the given time', async () => {
    const before = service.commits();
    await xml(`${SOLR}/update`, addOf([field('id', '1')]).replace('<add>', '<add commitWithin="1">'));
    while (service.commits() === before) await new Promise((resolve) => setTimeout(resolve, 5));
    while ((await docs()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  it('analyzes pictures, and warns about what it ignores', async () => {
    const picture = field('image', 'http://pictures.example/red.jpg').replace('>', ' boost="3">');
    const response = await xml(`${SOLR}/update?commit=true`, addOf([field('id', '1'), picture, field('score', '0.5')]));
    expect(response.json.responseHeader.warnings).toEqual([
      expect.stringContaining('boost'),
      expect.stringContaining('score'),
    ]);
    expect((await docs())[0]).toMatchObject({ id: '1', color_names: ['red'] });
  });

  it('may be compressed and chunked, with many documents at a time', async () => {
    const many = Array.from({ length: 600 }, (_, i) => [field('id', String(i)), field('title', `number ${i}`)]);
    const response = await send(`${SOLR}/update?commit=true`, {
      body: gzipSync(addOf(...many)),
      headers: { 'content-type': 'application/xml; charset=UTF-8', 'content-encoding': 'gzip' },
      chunked: true,
    });
    expect(response.json.operations.count).toBe(600);
    expect((await send(`${CORES}/select?rows=0`)).json.response.numFound).toBe(600);
  });

  it('is accepted only with a matching type', async () => {
    const add = addOf([field('id', '1')]);
    for (const [path, body, headers, wanted] of [
      [`${SOLR}/update/xml`, '[{"id":"1"}]', JSON_BODY, 'send application/xml'],
      [`${SOLR}/update/json`, add, XML_BODY, 'send application/json'],
      [`${SOLR}/update`, add, { 'content-type': 'text/plain' }, 'or application/xml'],
      [`${SOLR}/update`, add, { 'content-type': 'application/x-www-form-urlencoded' }, 'application/xml'],
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

  it('is refused from pages of other origins', async () => {
    const response = await xml(`${SOLR}/update?commit=true`, '<delete><query>*:*</query></delete>', {
      ...XML_BODY,
      origin: 'http://evil.example',
    });
    expect(response.status).toBe(403);
  });
});

async function fieldTypes(): Promise<Map<string, string>> {
  const { json } = await send(`${CORES}/schema`);
  return new Map(json.schema.fields.map(({ name, type }: { name: string; type: string }) => [name, type]));
}
