import { gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { FORM_BODY, JSON_BODY, type TestRequest } from '../../test/start-gateway.ts';
import { useService } from '../../test/start-service.ts';
import { CORES, SOLR, updatedService } from '../../test/updated-service.ts';

const service = useService();

const { post, send, ids } = updatedService(service);

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
    [{ delete: { query: 'a:(b' } }, 'Delete at position 0'],
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
    const documents = Array.from({ length: 1500 }, () => ({ name: 'no id' }));
    const { error } = (await post(CORES, documents)).json;
    expect([error.code, error.details.length]).toEqual([400, 1000]);
    expect(error.msg).toContain('1500 documents or deletes are wrong');
  });

  it('does not define types from a refused request', async () => {
    expect((await post(CORES, [{ id: '1', size: 5 }, { id: '' }])).status).toBe(400);
    expect((await post(`${CORES}?commit=true`, { id: '1', size: 'large' })).status).toBe(200);
    expect(await ids('&q=size:large')).toEqual(['1']);
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
      '👟',
      'é',
      'é'.normalize('NFD'),
      '" OR 1=1 --',
      '*',
      '../x',
      'ab'.repeat(256),
    ];
    const documents = odd.map((id) => ({ id, import: outputsOf('red') }));
    expect((await post(`${CORES}?commit=true`, documents)).status).toBe(200);
    expect((await ids()).sort()).toEqual([...odd].sort());
    for (const id of odd) {
      const response = await send(`/api/cores/my-collection/image?rank.by.id=${encodeURIComponent(id)}&rows=1`);
      expect(response.json.response.docs[0].id).toBe(id);
    }
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
    for (const outputs of ['{}', '{"color_descriptor":null}']) {
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
    for (const name of ['imgae', 'image_url', 'url', 'Image']) {
      const response = await post(CORES, [{ id: '1', [name]: url }]);
      expect(response.json.responseHeader.warnings).toEqual([
        `akin stores the field "${name}" and does not read a picture from it. Send the URL of the picture as "image".`,
      ]);
    }
    for (const document of [{ image: url, url }, { page: url }, { picture: 'red' }]) {
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
    [CORES, { body: gzipSync('[{"id":"1"}]'), headers: JSON_BODY }, 400],
    [`${SOLR}?stream.body=%3Cdelete%3E&commit=true`, {}, 400],
    [`${SOLR}/json/docs?split=/a`, json('{"id":"1"}'), 400],
    [`${SOLR}?rollback=true`, {}, 400],
    [`${SOLR}?overwrite=false`, json('[]'), 400],
    ['/api/cores/nowhere/update', json('[]'), 404],
  ];
  for (const [path, options, status] of refused) {
    const response = await send(path, options);
    expect([path, options, response.status, response.json.error.code]).toEqual([path, options, status, status]);
  }
  expect((await send('/api/cores/my-collection')).json).toMatchObject({ documents: 0, pending: 0 });
});

describe('other bodies', () => {
  const { send, ids } = updatedService(service);

  type Entry = readonly [name: string, value: string | Blob];
  async function upload(path: string, ...entries: readonly Entry[]) {
    const form = new FormData();
    for (const [name, value] of entries) form.append(name, value as Blob);
    const written = new Response(form);
    return send(path, {
      body: Buffer.from(await written.arrayBuffer()),
      headers: { 'content-type': written.headers.get('content-type') ?? '' },
    });
  }
  const picture = (name: string): Entry => ['file', new Blob([name], { type: 'image/jpeg' })];
  const document = (value: unknown): Entry => ['document', typeof value === 'string' ? value : JSON.stringify(value)];
  const refusal = ({ status, json }: { status: number; json: { error: { msg: string } } }) => [status, json.error.msg];

  describe.each([CORES, SOLR])('a document that comes with its picture at %s', (path) => {
    const collection = path.replace(/\/update$/, '');

    it('is stored with outputs and thumbnail, and its URL is not fetched', async () => {
      const sent = { id: 'with picture', image: 'photos/missing.jpg', labels: ['a'], n: 7 };
      const response = await upload(`${path}?commit=true`, document(sent), picture('red'));
      expect([response.status, response.json.operations?.count]).toEqual([200, 1]);
      const found = await send(`${collection}/image?rank.by.outputs=${encodeURIComponent(outputsOf('red'))}`);
      expect(found.json.response.docs[0]).toMatchObject({ ...sent, score: 1, color_names: ['red'] });
      const thumbnail = await send(`${collection}/thumbnail?id=with+picture`);
      expect([thumbnail.headers['content-type'], thumbnail.text]).toEqual(['image/webp', 'RIFF0000WEBPred']);
    });

    it('gets the fields of its file if that is wanted, unless it has them itself', async () => {
      const first = ['file', new File(['red'], 'IMG_1.jpg')] as const;
      await upload(`${path}?commit=true&fields=true`, document({ id: 'facts' }), first);
      const fields = async (id: string) =>
        (await send(`${collection}/get?id=${id}&fl=id,width,bytes,caption,labels,keywords`)).json.doc;
      const read = { width: 40, bytes: 3, caption: 'IMG_1.jpg', keywords: 'lake; sun', labels: ['lake', 'sun'] };
      expect(await fields('facts')).toEqual({ id: 'facts', ...read });
      await upload(`${path}?commit=true&fields=true`, document({ id: 'own', width: 7, labels: ['a'] }), first);
      expect(await fields('own')).toEqual({ id: 'own', ...read, width: 7, labels: ['a'] });
      await upload(`${path}?commit=true`, document({ id: 'alone' }), first);
      expect(await fields('alone')).toEqual({ id: 'alone' });
    });

    it('is analyzed only by the requested modules', async () => {
      await upload(`${path}?commit=true&modules.apply=color`, document({ id: 'colours' }), picture('blue'));
      const { doc } = (await send(`${collection}/get?id=colours&fl=color_names,content_descriptor,copyspace`)).json;
      expect(doc).toEqual({ color_names: ['blue'] });
    });

    it('is refused as a whole if its picture or the document is invalid', async () => {
      expect((await upload(path, document({ id: 'b' }), picture('broken'))).status).toBe(422);
      expect(refusal(await upload(path, document({ id: 'b', labels: [{}] }), picture('red')))).toEqual([
        400,
        expect.stringContaining('"labels"'),
      ]);
      const wrong: readonly (readonly [Entry[], string])[] = [
        [[document({ id: 'b' })], 'one part "document"'],
        [[document({ id: 'b' }), picture('red'), picture('blue')], 'one part "document"'],
        [[document({ id: 'b' }), picture('red'), ['commit', 'true']], 'in the URL'],
        [[document([{ id: 'b' }]), picture('red')], 'must be one document'],
        [[document('{"id":'), picture('red')], 'line 1, column 7'],
        [[document({ id: 'b', import: '{}' }), picture('red')], '"import"'],
        [[document({ id: 'b' }), ['file', new Blob([])]], 'is empty'],
      ];
      for (const [entries, problem] of wrong) {
        expect(refusal(await upload(path, ...entries))).toEqual([400, expect.stringContaining(problem)]);
      }
      expect(refusal(await upload(`${path}?async=true`, document({ id: 'b' }), picture('red')))).toEqual([
        400,
        expect.stringContaining('async'),
      ]);
      await send(`${path}?commit=true`, { body: '' });
      expect(await ids('&q=id:(b+c)')).toEqual([]);
    });
  });

  describe.each([CORES, SOLR])('lines of JSON at %s', (path) => {
    const lines = (text: string, type = 'application/x-ndjson') =>
      send(`${path}?commit=true`, { body: text, headers: { 'content-type': type } });

    it('are documents, stored all or none', async () => {
      expect((await lines('{"id":"l1","n":1}\n\n\r\n{"id":"l2","delete":"x"}')).json.operations.count).toBe(2);
      expect((await lines('{"id":"l3"}\n', 'application/jsonl; charset=utf-8')).status).toBe(200);
      expect(await ids('&q=id:l*')).toEqual(['l1', 'l2', 'l3']);
    });

    it('are refused with the number of the line', async () => {
      const response = await lines('{"id":"l4"}\n\n{"n":1}\n{"id":"l5","n":"no number"}\n[]\n');
      expect(
        response.json.error.details.map(({ position, msg }: { position: number; msg: string }) => [position, msg]),
      ).toEqual([
        [1, expect.stringMatching(/^Line 3: .*"id" is required/)],
        [2, expect.stringMatching(/^Line 4: .*"n"/)],
        [3, expect.stringMatching(/^Line 5: /)],
      ]);
      expect(refusal(await lines('{"id":"l4"}\n{"id":'))).toEqual([400, expect.stringContaining('line 2, column 7')]);
      expect(await ids('&q=id:l4')).toEqual([]);
    });

    it('are refused with the number of the line also for errors found at the end', async () => {
      const conflict = await lines(
        '\n{"id":"l6","_version_":-1}\n\n\n{"id":"l7","_version_":5}\n{"id":"l8","_version_":1}\n',
      );
      expect(refusal(conflict)).toEqual([409, expect.stringMatching(/^Line 5: Document "l7" at position 1: /)]);
      expect(conflict.json.error.details.map(({ msg }: { msg: string }) => msg.slice(0, 7))).toEqual([
        'Line 5:',
        'Line 6:',
      ]);
      const image = 'http://pictures.example/broken.jpg';
      const unread = await lines(`{"id":"l4"}\n\n{"id":"l9","image":"${image}"}\n`);
      expect(unread.json.error.details).toMatchObject([
        { position: 1, msg: expect.stringMatching(/^Line 3: Document "l9"/) },
      ]);
      await send(`${SOLR}?commit=true`, { body: '{"delete":["l4"]}', headers: { 'content-type': 'application/json' } });
      expect(await ids('&q=id:l4')).toEqual([]);
    });
  });
});
