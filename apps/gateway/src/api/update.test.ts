import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import { findCollection, loadSchema } from '@akin/store';
import { describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { FORM_BODY, JSON_BODY, type TestRequest } from '../../test/start-gateway.ts';
import type { Service } from '../../test/start-service.ts';
import { CORES, SOLR, updatedService } from '../../test/updated-service.ts';

let service: Service;
const { post, send, ids } = updatedService((started) => {
  service = started;
});

describe('update below /api/cores', () => {
  it('accepts a single delete, in each of its forms', async () => {
    await post(
      `${CORES}?commit=true`,
      ['1', '2', '3', '4', '5', '6'].map((id) => ({ id, n: Number(id) })),
    );
    for (const [body, left] of [
      [{ delete: ['1', 2] }, ['3', '4', '5', '6']],
      [{ delete: '3' }, ['4', '5', '6']],
      [{ delete: { id: '4' } }, ['5', '6']],
      [{ delete: { query: 'n:5' } }, ['6']],
      ['{"delete":{"id":"6"},"delete":"none"}', []],
    ] as const) {
      expect((await post(`${CORES}?commit=true`, body)).status).toBe(200);
      expect(await ids()).toEqual(left);
    }
  });

  it('accepts a document with a field called delete', async () => {
    expect((await post(`${CORES}?commit=true`, { id: '1', delete: 'never' })).status).toBe(200);
    expect(await ids('&q=delete:never')).toEqual(['1']);
  });

  it('refuses commands, and says where to send them', async () => {
    const response = await post(CORES, { commit: {} });
    expect([response.status, response.json.error.msg]).toEqual([
      400,
      expect.stringContaining('/solr/{collection}/update'),
    ]);
  });
});

describe('update below the legacy segment', () => {
  it('accepts the command map, whose keys repeat', async () => {
    const body = `{
      "add": {"doc": {"id": "1"}, "commitWithin": 50000, "overwrite": true},
      "add": {"doc": {"id": "2"}},
      "add": [{"id": "3"}, {"id": "4"}],
      "delete": {"id": "1"},
      "delete": ["4"],
      "commit": {}
    }`;
    const response = await post(SOLR, body);
    expect([response.status, response.json.operations?.count]).toEqual([200, 6]);
    expect(await ids()).toEqual(['2', '3']);
  });

  it('refuses unknown keys of commands', async () => {
    await post(`${SOLR}?commit=true`, [{ id: '1' }]);
    for (const [path, body, key] of [
      [SOLR, { delete: { id: '1', version: 999 } }, 'delete at position 0 has the key "version"'],
      [CORES, { delete: [{ id: '1', _VERSION_: 999 }] }, 'delete at position 0 has the key "_VERSION_"'],
      [SOLR, { add: { doc: { id: '1', n: 2 }, _version_: 999 } }, 'add at position 0 has the key "_version_"'],
    ] as const) {
      const response = await post(`${path}?commit=true`, body);
      expect([response.status, response.json.error?.msg]).toEqual([400, expect.stringContaining(key)]);
    }
    expect(await ids()).toEqual(['1']);
  });

  it('accepts an array of documents, and a single one with json.command=false', async () => {
    expect((await post(`${SOLR}?commit=true`, [{ id: '1' }])).status).toBe(200);
    expect((await post(`${SOLR}?commit=true&json.command=false`, { id: '2' })).status).toBe(200);
    expect(await ids()).toEqual(['1', '2']);
  });

  it.each([
    [{ id: '1' }, '"id" is not a command'],
    [{ rollback: {} }, 'rollback is not possible'],
    [{ add: { id: '1' } }, 'needs a document'],
    [{ add: { doc: { id: '1' }, overwrite: false } }, 'overwrite=false'],
    [{ add: { doc: { id: '1' }, overwrite: 'False' } }, 'overwrite=false'],
    [{ add: { doc: { id: '1' }, overwrite: 0 } }, 'overwrite=false'],
    [{ add: { doc: { id: '1' }, overwrite: {} } }, 'overwrite must be true or false'],
    [{ commit: { openSearcher: 'maybe' } }, 'openSearcher must be true or false'],
    [{ optimize: { waitSearcher: [true] } }, 'waitSearcher must be true or false'],
    [{ add: { doc: { id: '1' }, commitWithin: 'soon' } }, 'commitWithin'],
    [{ delete: {} }, 'needs ids or a query'],
    [{ delete: [''] }, 'needs ids or a query'],
    [{ delete: [null] }, 'needs ids or a query'],
    [{ delete: { query: '' } }, 'needs ids or a query'],
    [{ delete: { query: 'a:(b' } }, 'Delete at position 0'],
    [{ delete: { query: 'never_seen:1' } }, 'never_seen'],
    [{ delete: { query: 'copyspace:left' } }, 'left'],
    [{ add: { doc: { id: '1', fresh_number: 5 } }, delete: { query: 'fresh_number:many' } }, 'many'],
    [{ commit: 'now' }, 'commit must be an object'],
  ])('refuses %j', async (body, message) => {
    const response = await post(`${SOLR}?commit=true`, body);
    expect([response.status, response.json.error.msg]).toEqual([400, expect.stringContaining(message)]);
    expect(await ids()).toEqual([]);
  });
});

it('a delete of an id that is too long is refused without repeating all of it', async () => {
  const response = await post(CORES, { delete: ['1'.repeat(513), '2'.repeat(100_000)] });
  const [first, second] = ['1', '2'].map((digit) => `Delete "${digit.repeat(60)}…" at position ${Number(digit) - 1}: `);
  expect([response.status, response.json.error]).toMatchObject([
    400,
    {
      msg: expect.stringContaining(`${first}An id has at most 512 bytes`),
      details: [{ msg: expect.stringContaining(first as string) }, { msg: expect.stringContaining(second as string) }],
    },
  ]);
  for (const detail of response.json.error.details) expect(detail).not.toHaveProperty('id');
});

describe('a delete by query', () => {
  it('may use fields that its own request defines', async () => {
    const body =
      '{"add":{"doc":{"id":"1","defined_here":"a"}},"add":{"doc":{"id":"2","defined_here":"b"}},"delete":{"query":"defined_here:a"}}';
    expect((await post(`${SOLR}?commit=true`, body)).status).toBe(200);
    expect(await ids()).toEqual(['2']);
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

describe('all or nothing', () => {
  it('lists every invalid document by position and id, and accepts none', async () => {
    const response = await post(`${CORES}?commit=true`, [
      { id: 'good' },
      { name: 'no id' },
      { id: 'array', colour: ['red'] },
      { id: 'object', nested: { a: 1 } },
      'text',
      { id: 'local', image: '/home/me/a.jpg' },
      { id: 'import', import: '{"content_descriptor":"AAAA"}' },
      { id: 'text', text: 'mine' },
    ]);
    expect(response.status).toBe(400);
    expect(
      response.json.error.details.map(({ position, id }: { position: number; id?: string }) => [position, id]),
    ).toEqual([
      [1, undefined],
      [2, 'array'],
      [3, 'object'],
      [4, undefined],
      [5, 'local'],
      [6, 'import'],
      [7, 'text'],
    ]);
    expect(response.json.error.details[5].msg).toMatch(/^Document "import" at position 6: field "import": /);
    expect(response.json.error.msg).toContain('"id" is required');
    expect(response.json.error.msg).toContain('7 documents or deletes are wrong. Nothing in the request was accepted.');
    expect(await ids()).toEqual([]);
  });

  it('truncates a long list, and says how long it was', async () => {
    const response = await post(
      CORES,
      Array.from({ length: 1500 }, () => ({ name: 'no id' })),
    );
    expect(response.status).toBe(400);
    expect(response.json.error.details).toHaveLength(1000);
    expect(response.json.error.msg).toContain('1500 documents or deletes are wrong');
  });

  it('does not define types from a refused request', async () => {
    expect((await post(CORES, [{ id: '1', size: 5 }, { id: '' }])).status).toBe(400);
    expect((await post(`${CORES}?commit=true`, { id: '1', size: 'large' })).status).toBe(200);
    expect(await ids('&q=size:large')).toEqual(['1']);
  });

  it.each<[string | Buffer, string]>([
    ['[{"id":"1"}', 'cut off'],
    ['[{"id":"1"},]', 'a comma too many'],
    ['[{"id":"1"}] x', 'something behind'],
    ['{"id":"1"', 'cut off'],
    ['"text"', 'no document'],
    ['7', 'no document'],
    ['[{"id":"1","n":9223372036854775808}]', 'beyond 64 bits'],
    [`${'['.repeat(100)}${']'.repeat(100)}`, 'deep nesting'],
    [Buffer.from([0x5b, 0x7b, 0x22, 0xff, 0x22, 0x7d, 0x5d]), 'no UTF-8'],
    [gzipSync('[{"id":"1"}]'), 'gzip without saying so'],
  ])('refuses %s: %s', async (body) => {
    const response = await send(`${CORES}?commit=true`, { body, headers: JSON_BODY });
    expect([response.status, response.json.error.code]).toEqual([400, 400]);
    expect(await ids()).toEqual([]);
  });

  it('keeps the last one of two documents with the same id in one request', async () => {
    await post(`${CORES}?commit=true`, [
      { id: '1', v: 1 },
      { id: '1', v: 2 },
    ]);
    expect(await ids('&q=v:2')).toEqual(['1']);
  });

  it('lets one of two racing clients define the type of a new field, and refuses values that do not fit', async () => {
    const field = `raced_${Date.now()}`;
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, i) => post(CORES, { id: String(i), [field]: i % 2 === 0 ? i : `word ${i}` })),
    );
    const accepted = responses.filter(({ status }) => status === 200).length;
    const { json } = await send('/api/cores/my-collection/schema');
    const { type } = json.schema.fields.find(({ name }: { name: string }) => name === field);
    // A String field stores the numbers as text. A Long field refuses the words.
    expect([type, accepted]).toEqual(type === 'string' ? ['string', 8] : ['long', 4]);
    for (const { status, json: body } of responses) {
      if (status !== 200) expect([status, body.error.msg]).toEqual([400, expect.stringContaining(field)]);
    }
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
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`field ${i}`, {}]));
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

describe('values', () => {
  it('are returned digit for digit, with the type that they had', async () => {
    const body =
      '[{"id":1,"long":9223372036854775807,"negative":-9223372036854775808,"double":5.0,"tiny":1e-7,"day":"2024-02-29","instant":"2024-01-31T12:30:00.123456+02:00","not_a_date":"2023-02-30","digits":"007"}]';
    expect((await send(`${CORES}?commit=true`, { body, headers: JSON_BODY })).status).toBe(200);
    const { text } = await send(
      '/api/cores/my-collection/select?q=id:1&omitHeader=true&fl=id,long,negative,double,tiny,day,instant,not_a_date,digits',
    );
    for (const part of [
      '"id":"1"',
      '"long":9223372036854775807',
      '"negative":-9223372036854775808',
      '"double":5.0',
      '"tiny":1e-7',
      '"day":"2024-02-29T00:00:00Z"',
      '"instant":"2024-01-31T10:30:00.123Z"',
      '"not_a_date":"2023-02-30"',
      '"digits":"007"',
    ]) {
      expect(text).toContain(part);
    }
  });

  it('keep unusual ids unchanged', async () => {
    const odd = [
      'http://a.example/?b=c&d#e',
      'a:b c',
      '👟',
      'é',
      'é'.normalize('NFD'),
      '" OR 1=1 --',
      '*',
      '-x',
      '../x',
      '%2F',
      '\\',
      'ab'.repeat(256),
    ];
    expect(
      (
        await post(
          `${CORES}?commit=true`,
          odd.map((id) => ({ id, import: outputsOf('red') })),
        )
      ).status,
    ).toBe(200);
    expect((await ids()).sort()).toEqual([...odd].sort());
    for (const id of odd) {
      const response = await send(`/api/cores/my-collection/image?rank.by.id=${encodeURIComponent(id)}&rows=1`);
      expect(response.json.response.docs[0].id).toBe(id);
    }
  });

  it.each([
    ['no id', {}],
    ['an empty id', { id: '' }],
    ['an id that is too long', { id: 'x'.repeat(513) }],
    ['an id with NUL', { id: 'a\u0000' }],
    ['half a surrogate pair', { id: '\ud800' }],
    ['a NUL in a value', { id: '1', a: 'x\u0000' }],
    ['a name with a control character', { id: '1', 'a\nb': 1 }],
    ['an empty name', { id: '1', '': 1 }],
    ['a location beyond the pole', { id: '1', location: '91,0' }],
    ['an import that is not JSON', { id: '1', import: 'x' }],
    ['a thumbnail that is not a picture', { id: '1', import: outputsOf('red'), thumbnail: 'aGVsbG8=' }],
    [
      'too many values for a row',
      Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [i === 0 ? 'id' : `f${i}`, `x${i}`])),
    ],
  ])('refuse %s', async (_, document) => {
    const body = JSON.stringify([document]);
    const response = await send(CORES, { body, headers: JSON_BODY });
    expect([response.status, response.json.error.details?.[0]?.position]).toEqual([400, 0]);
  });

  it('warn about fields that were not stored', async () => {
    const response = await post(`${CORES}?commit=true`, [
      { id: '1', score: 0.5, copyspace: [1], color_names: ['red'] },
      { id: '2', score: 1 },
    ]);
    expect(response.json.responseHeader.warnings).toHaveLength(3);
    expect(response.json.responseHeader.warnings[0]).toContain('"score"');
  });

  it('refuse outputs that hold nothing of a picture, and warn about those that are not in "import"', async () => {
    for (const outputs of ['{}', '{"foo":1}', '{"color_names":["red"]}', '{"color_descriptor":null}']) {
      const image = 'http://pictures.example/red.jpg';
      const response = await post(CORES, [{ id: '1', import: outputs, image }]);
      expect([response.status, response.json.error?.msg]).toEqual([
        400,
        expect.stringContaining('nothing of a picture'),
      ]);
    }
    expect((await post(CORES, [{ id: '1', import: outputsOf('red', ['copyspace']) }])).status).toBe(200);
    const stored = await post(CORES, [{ id: '1', outputs: outputsOf('red') }]);
    expect([stored.status, stored.json.responseHeader.warnings]).toEqual([200, [expect.stringContaining('"import"')]]);
  });

  it('and searches warn about dates that are Strings', async () => {
    const document = { id: '1', created: '2024-01-01 10:00:00' };
    const { json } = await post(`${CORES}?commit=true`, [document]);
    expect(json.responseHeader.warnings).toEqual([expect.stringContaining('The field "created" holds Strings')]);
    const warningsOf = async (query: string) =>
      (await send(`/api/cores/my-collection/select?${query}`)).json.responseHeader.warnings;
    for (const query of ['q=created:[NOW-7DAYS TO *]', 'fq=-created:[* TO 2020-01-01]', 'q=created:NOW/DAY']) {
      expect(await warningsOf(encodeURI(query))).toEqual(json.responseHeader.warnings);
    }
    for (const path of [
      'select?facet=true&facet.query=created:NOW',
      'groups?fq=created:NOW',
      'terms?terms.fl=id&fq=created:NOW',
      `tag?tagging.input.preprocessed=${encodeURIComponent(outputsOf('red'))}&fq=created:NOW`,
    ]) {
      const response = await send(`/api/cores/my-collection/${path}`);
      expect([path, response.json.responseHeader.warnings]).toEqual([path, json.responseHeader.warnings]);
    }
    const { text } = await send('/api/cores/my-collection/export?fq=created:NOW');
    expect(JSON.parse(text.split('\n')[0] ?? '')['akin-export'].warnings).toEqual(json.responseHeader.warnings);
    for (const change of [{ delete: { query: 'created:NOW' } }, [{ id: '1', created: { set: '01.02.2024' } }]]) {
      expect((await post(CORES, change)).json.responseHeader.warnings).toEqual(json.responseHeader.warnings);
    }
    for (const query of ['q=created:[a TO b]', 'q=created:"2024-01-01"', 'q=*:*']) {
      expect(await warningsOf(encodeURI(query))).toBeUndefined();
    }
  });

  it('warn about a document without a picture that has a URL under nearly the right name', async () => {
    const url = 'http://pictures.example/red.jpg';
    for (const name of ['imgae', 'image_url', 'imageUrl', 'url', 'picture', 'img', 'Image', 'images']) {
      const response = await post(CORES, [{ id: '1', [name]: url }]);
      expect(response.json.responseHeader.warnings).toEqual([
        `akin stores the field "${name}" and does not read a picture from it. Send the URL of the picture as "image".`,
      ]);
    }
    for (const document of [
      { image: url, url },
      { import: outputsOf('red'), url },
      { page: url },
      { picture: 'red' },
    ]) {
      const response = await post(CORES, [{ id: '1', ...document }]);
      expect(response.json.responseHeader.warnings).toBeUndefined();
    }
  });
});

describe('requests that are not updates', () => {
  it.each<[string, string, TestRequest, number]>([
    ['XML without an id', SOLR, { body: '<add><doc/></add>', headers: { 'content-type': 'text/xml' } }, 400],
    ['javabin', SOLR, { body: 'x', headers: { 'content-type': 'application/javabin' } }, 415],
    ['JSON called a form', SOLR, { body: '[{"id":"1"}]', headers: FORM_BODY }, 415],
    ['JSON without a type', CORES, { body: '[{"id":"1"}]' }, 415],
    ['JSON called text', CORES, { body: '[{"id":"1"}]', headers: { 'content-type': 'text/plain' } }, 415],
    ['stream.body', `${SOLR}?stream.body=%3Cdelete%3E&commit=true`, {}, 400],
    ['a part of a document', `${SOLR}/json/docs?split=/a`, { body: '{"id":"1"}', headers: JSON_BODY }, 400],
    ['what shall only be shown', `${SOLR}/json/docs?echo=true`, { body: '{"id":"1"}', headers: JSON_BODY }, 400],
    ['rollback', `${SOLR}?rollback=true`, {}, 400],
    ['overwrite=false', `${SOLR}?overwrite=false`, { body: '[]', headers: JSON_BODY }, 400],
    ['an unknown module', `${CORES}?modules.apply=smell`, { body: '[]', headers: JSON_BODY }, 400],
    ['a collection that does not exist', '/api/cores/nowhere/update', { body: '[]', headers: JSON_BODY }, 404],
    ['a malformed commit', `${CORES}?commit=perhaps`, {}, 400],
  ])('are refused: %s', async (_, path, options, status) => {
    const response = await send(path, options);
    expect([response.status, response.json.error.code]).toEqual([status, status]);
  });
});
