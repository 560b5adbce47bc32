import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { findCollection, loadSchema } from '@akin/store/database';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { JSON_BODY } from '../../test/start-gateway.ts';
import { useService } from '../../test/start-service.ts';
import { CORES, SOLR, updatedService } from '../../test/updated-service.ts';

const service = useService();
const UPDATE = `${CORES}?async=true`;

const { post, send, ids } = updatedService(service);

describe('a large request', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  const documents = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `d${i}` }));
  /** Runs instead of each pause, with the milliseconds that the pause is for. */
  const onPause = (run: (milliseconds: number) => Promise<void>) =>
    jest.spyOn(service.store.throttle, 'pauseAfter').mockImplementation(run);

  it('pauses after each batch, and others are answered meanwhile; a small one does not pause', async () => {
    const answered: number[] = [];
    onPause(async () => {
      answered.push((await send('/api/cores/my-collection/select?rows=0')).status);
    });
    expect((await post(UPDATE, documents(20))).status).toBe(202);
    expect(answered).toEqual([]);
    expect((await post(UPDATE, documents(600))).status).toBe(202);
    expect(answered).toEqual([200, 200, 200]);
  });

  it('pauses for the time that the event loop was busy between two batches, too', async () => {
    const headers = { 'content-type': 'application/x-ndjson' };
    const request = httpRequest({
      host: '127.0.0.1',
      port: service.gateway.port,
      path: UPDATE,
      method: 'POST',
      headers,
    });
    const lines = (count: number) => documents(count).map((one) => `${JSON.stringify(one)}\n`);
    let busy = 0;
    const pauses: number[] = [];
    onPause(async (milliseconds) => {
      if (pauses.push(milliseconds) > 1) return;
      // The next batch begins when this pause has ended.
      setImmediate(() => {
        const began = performance.now();
        while (busy < 300) busy = performance.now() - began;
        request.end(lines(10).join(''));
      });
    });
    request.write(lines(260).join(''));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(202);
    expect(pauses).toHaveLength(2);
    expect(pauses[1]).toBeGreaterThanOrEqual(busy);
  });
});

describe('a long body', () => {
  const begin = (path: string) => {
    const request = httpRequest({ port: service.gateway.port, path, method: 'POST', headers: JSON_BODY, agent: false });
    const status = new Promise<number>((resolve, reject) => {
      request.on('error', reject);
      request.on('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
    });
    return { request, status };
  };
  const part = (from: number) =>
    Array.from({ length: 300 }, (_, i) => JSON.stringify({ id: String(from + i), import: outputsOf('red') })).join(',');

  it('does not block other requests while it arrives', async () => {
    const { request, status } = begin(`${CORES}?commit=true`);
    request.write(`[${part(1000)}`);
    expect((await post(`${CORES}?commit=true`, { id: 'other' })).status).toBe(200);
    expect(await ids()).toEqual(['other']);
    request.end(`,${part(2000)}]`);
    expect(await status).toBe(200);
    expect(await ids()).toHaveLength(601);
  });

  it('leaves nothing behind if it is truncated', async () => {
    const before = (await send('/api/cores/my-collection')).json;
    const { request, status } = begin(CORES);
    request.write(`[${part(1000)},`);
    await post(CORES, []);
    request.destroy();
    await expect(status).rejects.toThrow();
    await post(`${CORES}?commit=true`, { id: 'other' });
    expect(await ids()).toEqual(['other']);
    expect((await send('/api/cores/my-collection')).json.pending).toBe(before.pending);
  });

  it('is answered before its end if it is already invalid, and the connection closes', async () => {
    const { request, status } = begin(CORES);
    request.write('{"id":"1"} and more');
    expect(await status).toBe(400);
    request.destroy();
  });
});

describe('maxErrors', () => {
  const bad = [{ id: 'b', n: 'many' }, { n: 1 }, 'text'];
  const body = [{ id: 'a', n: 1 }, bad[0], { id: 'c' }, bad[1], bad[2], { id: 'f', n: 6 }];

  it('leaves out documents that cannot be taken, and lists each by position', async () => {
    await post(`${CORES}?commit=true`, { id: 'first', n: 0 });
    const response = await post(`${CORES}?commit=true&maxErrors=4&versions=true`, [
      ...body,
      { id: 'g', import: '{}' },
      { id: 'h' },
    ]);
    expect([response.status, response.json.operations.count]).toEqual([200, 4]);
    const errors = response.json.responseHeader.errors as { type: string; id: string; position: number }[];
    expect(errors.map(({ type, id, position }) => [type, id, position])).toEqual([
      ['ADD', 'b', 1],
      ['ADD', '(unknown)', 3],
      ['ADD', '(unknown)', 4],
      ['ADD', 'g', 6],
    ]);
    expect(response.json.responseHeader).toMatchObject({
      errors: [{ message: expect.stringMatching(/^Document "b" at position 1: field "n": /) }, {}, {}, {}],
      maxErrors: 4,
    });
    const [, first] = response.json.adds;
    expect(response.json.adds).toEqual(['a', first, 'c', first + 1, 'f', first + 2, 'h', first + 3]);
    expect(await ids()).toEqual(['a', 'c', 'f', 'first', 'h']);
  });

  it('refuses everything if more are wrong, and for a wrong version, whose position is the one in the body', async () => {
    await post(`${CORES}?commit=true`, { id: 'first', n: 0 });
    const tooMany = await post(`${CORES}?commit=true&maxErrors=2`, body);
    expect([tooMany.status, tooMany.json.error.details.length]).toEqual([400, 3]);
    const conflict = await post(`${CORES}?commit=true&maxErrors=-1`, [...body, { id: 'first', _version_: -1 }]);
    expect([conflict.status, conflict.json.error.details]).toEqual([
      409,
      [{ position: 6, id: 'first', code: 'conflict', msg: expect.stringMatching(/^Document "first" at position 6: /) }],
    ]);
    expect(await ids()).toEqual(['first']);
    expect((await post(`${CORES}?maxErrors=-2`, body)).json.error.msg).toContain('maxErrors');
  });

  it('lets a document that is left out define no field', async () => {
    for (const field of ['price', 'cost']) {
      const wrong = { id: '1', [field]: 'n/a', import: '{}', at: '2024-01-01 10:00' };
      const documents = [wrong, { id: '2', [field]: 12.5 }];
      const response = await post(
        `${CORES}?commit=true&maxErrors=1`,
        field === 'cost' ? documents.reverse() : documents,
      );
      expect([response.status, response.json.responseHeader.errors.length]).toEqual([200, 1]);
      expect(response.json.responseHeader.warnings).toBeUndefined();
      expect(await ids(`&q=${field}:[12+TO+13]`)).toEqual(['2']);
    }
  });

  it('lists the beginnings of long texts, and no more than 4 MiB', async () => {
    await post(`${CORES}?commit=true`, { id: 'first', n: 0 });
    const query = `n:[${'é'.repeat(1_000_000)}`;
    const many = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`field ${i}`, {}]));
    const bad = Array.from({ length: 5_000 }, (_, i) => ({ id: `${i}`, ...many }));
    const body = `{"delete":{"query":${JSON.stringify(query)}},"add":${JSON.stringify([...bad, { id: 'a' }])}}`;
    const { json } = await send(`${SOLR}?commit=true&maxErrors=-1`, { body, headers: JSON_BODY });
    const { errors, warnings } = json.responseHeader as {
      errors: { id: string; message: string }[];
      warnings: string[];
    };
    expect(errors[0]?.id).toBe(`n:[${'é'.repeat(254)}`);
    expect(Math.max(...errors.map(({ message }) => Buffer.byteLength(message)))).toBe(1024);
    expect(errors.length).toBeGreaterThan(4_000);
    expect(warnings).toEqual([`${5_001 - errors.length} more documents or deletes are left out than errors lists.`]);
    expect(await ids()).toEqual(['a', 'first']);
  });

  it('lets out a delete by query that the database cannot run', async () => {
    await post(`${CORES}?commit=true`, { id: 'first', n: 0 });
    const query = 'n:0';
    const collection = await findCollection(service.store, 'my-collection');
    const column = (await loadSchema(service.store, collection)).columns.get('n');
    if (column?.kind !== 'column') throw new Error('no field n');
    // As somebody with psql might.
    await service.store.engine.query(`alter table ${collection.sqlSchema}.documents rename ${column.sql} to elsewhere`);
    const body = `{"add":{"doc":{"id":"a"}},"delete":{"query":"${query}"},"add":{"doc":{"id":"b"}}}`;
    const { status, json } = await send(`${SOLR}?maxErrors=1&versions=true`, { body, headers: JSON_BODY });
    expect([status, json.operations?.count, json.responseHeader.errors]).toEqual([
      200,
      2,
      [{ type: 'DELQ', id: query, position: 1, message: expect.stringContaining('The database cannot run the query') }],
    ]);
    await service.store.engine.query(`alter table ${collection.sqlSchema}.documents rename elsewhere to ${column.sql}`);
    expect(json.adds[3]).toBe(json.adds[1] + 1);
  });

  it('leaves out a document that is too large to be read, which refuses everything otherwise', async () => {
    await post(`${CORES}?commit=true`, { id: 'first', n: 0 });
    const large = [{ id: 'a' }, { id: 'large', text: 'x'.repeat(8 * 1024 * 1024) }, { id: 'b' }];
    expect((await post(`${CORES}?commit=true`, large)).status).toBe(413);
    const { status, json } = await post(`${CORES}?commit=true&maxErrors=1`, large);
    expect([status, json.responseHeader.errors]).toEqual([
      200,
      [{ type: 'ADD', id: '(unknown)', position: 1, message: expect.stringContaining('8388608 bytes') }],
    ]);
    expect(await ids()).toEqual(['a', 'b', 'first']);
  });

  it('applies to lines that are not JSON, to deletes, and to XML', async () => {
    await post(`${CORES}?commit=true`, { id: 'first', n: 0 });
    const lines = Buffer.from('{"id":"a"}\n\n{"id":\n{"id":"b","n":true}\n{"id":"c"}\n');
    const type = { 'content-type': 'application/x-ndjson' };
    const fromLines = await send(`${CORES}?maxErrors=2`, { body: lines, headers: type });
    expect(fromLines.json.responseHeader.errors).toEqual([
      { type: 'ADD', id: '(unknown)', position: 1, message: expect.stringContaining('line 3') },
      { type: 'ADD', id: 'b', position: 2, message: expect.stringMatching(/^Line 4: Document "b" at position 2: /) },
    ]);
    const body = '{"delete":{"query":"n:["},"delete":["","other"],"add":{"doc":{"id":"d"}}}';
    const deletes = await send(`${SOLR}?maxErrors=-1`, { body, headers: JSON_BODY });
    expect(deletes.json.responseHeader.errors).toMatchObject([
      { type: 'DELQ', id: 'n:[', position: 0 },
      { type: 'DELID', id: '(unknown)', position: 1 },
    ]);
    const doc = (id: string, n: string) => `<doc><field name="id">${id}</field><field name="n">${n}</field></doc>`;
    const xml = await send(`${SOLR}?maxErrors=1&commit=true&wt=xml`, {
      body: `<add>${doc('e', 'x')}${doc('f', '5')}</add>`,
      headers: { 'content-type': 'text/xml' },
    });
    expect(xml.text).toContain('<arr name="errors"><lst><str name="type">ADD</str><str name="id">e</str>');
    expect(await ids()).toEqual(['a', 'c', 'd', 'f', 'first']);
  });
});
