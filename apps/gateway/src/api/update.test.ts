import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { FORM_BODY, JSON_BODY, type TestRequest } from '../../test/start-gateway.ts';
import { CORES, SOLR, updatedService } from '../../test/updated-service.ts';

const { post, send, ids } = updatedService();

describe('an update', () => {
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

  it('accepts an array of documents, and a single one below /api/cores or with json.command=false', async () => {
    expect((await post(`${SOLR}?commit=true`, [{ id: '1' }])).status).toBe(200);
    expect((await post(`${SOLR}?commit=true&json.command=false`, { id: '2' })).status).toBe(200);
    expect((await post(`${CORES}?commit=true`, { id: '3', delete: 'never' })).status).toBe(200);
    expect(await ids()).toEqual(['1', '2', '3']);
    expect(await ids('&q=delete:never')).toEqual(['3']);
  });

  it.each([
    [{ id: '1' }, '"id" is not a command'],
    [{ add: { doc: { id: '1' } }, delete: { id: '1', version: 999 } }, 'has the key "version"'],
    [{ delete: { query: 'a:(b' } }, 'Delete at position 0'],
    [{ delete: { query: 'never_seen:1' } }, 'never_seen'],
    [{ delete: { query: 'copyspace:left' } }, 'left'],
    [{ add: { doc: { id: '1', fresh_number: 5 } }, delete: { query: 'fresh_number:many' } }, 'many'],
  ])('refuses %j as a whole', async (body, message) => {
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

  it('are all refused with their positions', async () => {
    const wrong = [
      {},
      { id: '' },
      { id: 'x'.repeat(513) },
      { id: 'a\u0000' },
      { id: '\ud800' },
      { id: '1', a: 'x\u0000' },
      { id: '1', 'a\nb': 1 },
      { id: '1', '': 1 },
      { id: '1', location: '91,0' },
      { id: '1', import: 'x' },
      { id: '1', import: outputsOf('red'), thumbnail: 'aGVsbG8=' },
      // Too many values for a row.
      Object.fromEntries(Array.from({ length: 1200 }, (_, i) => [i === 0 ? 'id' : `f${i}`, `x${i}`])),
    ];
    const { status, json } = await post(CORES, wrong);
    const positions = json.error.details.map(({ position }: { position: number }) => position);
    expect([status, positions]).toEqual([400, wrong.map((_, position) => position)]);
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

it('requests that are not updates are refused', async () => {
  const json = (body: string) => ({ body, headers: JSON_BODY });
  const refused: readonly (readonly [string, TestRequest, number])[] = [
    [SOLR, { body: '<add><doc/></add>', headers: { 'content-type': 'text/xml' } }, 400],
    [SOLR, { body: 'x', headers: { 'content-type': 'application/javabin' } }, 415],
    [SOLR, { body: '[{"id":"1"}]', headers: FORM_BODY }, 415],
    [CORES, { body: '[{"id":"1"}]' }, 415],
    [CORES, { body: '[{"id":"1"}]', headers: { 'content-type': 'text/plain' } }, 415],
    [CORES, json('[{"id":"1"}] x'), 400],
    [CORES, { body: gzipSync('[{"id":"1"}]'), headers: JSON_BODY }, 400],
    [`${SOLR}?stream.body=%3Cdelete%3E&commit=true`, {}, 400],
    [`${SOLR}/json/docs?split=/a`, json('{"id":"1"}'), 400],
    [`${SOLR}/json/docs?echo=true`, json('{"id":"1"}'), 400],
    [`${SOLR}?rollback=true`, {}, 400],
    [`${SOLR}?overwrite=false`, json('[]'), 400],
    [`${CORES}?modules.apply=smell`, json('[]'), 400],
    ['/api/cores/nowhere/update', json('[]'), 404],
    [`${CORES}?commit=perhaps`, {}, 400],
  ];
  for (const [path, options, status] of refused) {
    const response = await send(path, options);
    expect([path, options, response.status, response.json.error.code]).toEqual([path, options, status, status]);
  }
  expect((await send('/api/cores/my-collection')).json).toMatchObject({ documents: 0, pending: 0 });
});
