import { AkinError } from '@akin/domain';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { readSolrXml } from '../../test/solr-xml.ts';
import { ask, FORM_BODY, JSON_BODY, postJson, type TestRequest } from '../../test/start-gateway.ts';
import { useCollection, useService } from '../../test/start-service.ts';
import type { Originals } from '../config.ts';

const SOLR = '/solr/my-collection';
const CORES = '/api/cores/my-collection';
/** What the thumbnails of this test are converted to. */
const MADE = Buffer.from('RIFF....WEBPmade');

const BYTES = Buffer.from('0123456789');
/** What was indexed of it. */
const FILE = { bytes: 10, file_hash: 7 };
/** The collection that the folder was indexed into. */
let folderOf: string | undefined = 'files';
const ORIGINALS: Originals = {
  open: async ({ collection, source, path, bytes, hash }) =>
    collection === folderOf && source === '/photos' && path === 'a b.jpg' && bytes === 10 && hash === 7
      ? {
          size: BYTES.length,
          modified: new Date(0),
          version: 'v1',
          type: 'image/jpeg',
          async *read(start: number, end: number) {
            yield BYTES.subarray(start, end + 1);
          },
          webp: async () => Buffer.from('RIFF0000WEBP'),
          analyze: () => Promise.reject(new Error('nobody analyzes it')),
        }
      : undefined,
  forget: async (collection) => {
    if (collection === folderOf) folderOf = undefined;
  },
};

const service = useService({
  originals: ORIGINALS,
  makeThumbnail: async (bytes) => {
    if (bytes.length < 20) throw new AkinError('image-undecodable', 'The picture is cut off.');
    return MADE;
  },
});
beforeAll(async () => {
  const documents = [
    { id: '1', title: 'red shoe', n: 1 },
    { id: '2', title: 'blue shoe', n: 2 },
  ];
  await postJson(service.gateway, `${SOLR}/update?commit=true`, documents);
});

const send = (path: string, options?: TestRequest) => ask(service.gateway, path, options);
const complaint = async (path: string, options?: TestRequest) => {
  const { status, json } = await send(path, options);
  return `${status} ${json.error?.msg}`;
};

describe('the parameter json', () => {
  const json = (value: unknown) => encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value));
  it.each<[unknown, string[]]>([
    [{ query: 'blue' }, ['2']],
    [{ query: '*:*', filter: ['n:[1 TO *]', '-n:2'], limit: 5 }, ['1']],
    [{ params: { sort: 'n desc' }, limit: 1 }, ['2']],
    [' ', ['1', '2']],
  ])('%j means the same as in a body', async (value, expected) => {
    for (const request of [
      send(`${SOLR}/select?fl=id&json=${json(value)}`),
      send(`${SOLR}/select?fl=id`, { body: `json=${json(value)}`, headers: FORM_BODY }),
    ]) {
      expect((await request).json.response.docs).toEqual(expected.map((id) => ({ id })));
    }
  });

  it('is refused if it is malformed, contains something unsupported, or the endpoint is not a search', async () => {
    expect(await complaint(`${SOLR}/select?json=${json('{"query":')}`)).toMatch(/^400 Parameter json: /);
    expect(await complaint(`${SOLR}/select?json=${json('[1]')}`)).toMatch(/^400 Parameter json: /);
    expect(await complaint(`${SOLR}/select?json=${json({ facet: { a: 'n' } })}`)).toMatch(/^400 .*facet/);
    expect(await complaint(`${SOLR}/select?json=${json({ params: ['rows=1'] })}`)).toMatch(/^400 .* params must be/);
    expect(await complaint(`${SOLR}/terms?terms.fl=title&json=${json({})}`)).toMatch(/^400 Parameter json /);
    expect(await complaint(`${SOLR}/update?commit=true&json=${json({})}`)).toMatch(/^400 Parameter json /);
  });
});

describe('complaints', () => {
  it.each([
    [
      '/select?TZ=GMT+1',
      '400 Parameter TZ must be a time zone, such as Europe/Berlin or GMT+1 (in a URL GMT%2B1); it is "GMT 1".',
    ],
    ['/select?sort=titel%20asc', '400 Parameter sort: no document has a field "titel" (did you mean "title"?).'],
    [
      '/select?sort=text%20asc',
      '400 Parameter sort: documents cannot be ordered by "text", which is not a single value.',
    ],
    ['/image?rank.by.url=http://a:99999/', expect.stringMatching(/^400 Parameter rank.by.url: .* is invalid/)],
    ['/select?sort=title%20up', expect.stringMatching(/^400 Parameter sort: (?!.*sort cannot)/)],
  ])('%s', async (path, expected) => {
    expect(await complaint(SOLR + path)).toEqual(expected);
  });

  it.each(['{"commit":{}}', '{"add":{"doc":{"id":"x"}}}', '{"delete":["1"],"commit":{}}', '{"optimize":{}}'])(
    'commands below /api/cores: %s',
    async (body) => {
      for (const path of ['/update', '/update/json', '/update/json/docs']) {
        const response = await complaint(CORES + path, { body, headers: JSON_BODY });
        expect(response).toMatch(/^400 .*\/solr\/\{collection\}\/update/);
      }
    },
  );

  it('settings of a collection are not ignored', async () => {
    const put = (path: string, body = '') => send(path, { method: 'PUT', body, headers: JSON_BODY });
    expect((await put('/api/cores/other', '{"replicas":2}')).json.error.msg).toContain('"replicas"');
    expect((await put('/api/cores/other', '{"fields":[{"a":1}]}')).status).toBe(400);
    const { status, json } = await put('/api/cores/other?partitions=4');
    expect([status, json.error.msg]).toEqual([
      400,
      expect.stringMatching(/"partitions" is unknown here.*model, .*shards/),
    ]);
    expect((await put('/api/cores/other', '{}')).status).toBe(201);
  });
});

describe('unknown parameters', () => {
  const PATH = useCollection(service, 'unknown');
  const meant = (sent: string, name: string) => [
    `Parameter ${sent} is unknown here and was ignored. Did you mean ${name}?`,
  ];

  it('are reported in the header of responses, also in XML, and are never an error', async () => {
    const update = await postJson(service.gateway, `${PATH}/update?commit=true&wait=1&comitWithin=5`, {
      id: '1',
      category: 'home',
    });
    expect([update.status, update.json.responseHeader.warnings]).toEqual([200, meant('comitWithin', 'commitWithin')]);
    const search = await send(`${PATH}/select?limit=5&category=home&wt=json`);
    expect([search.status, search.json.response.numFound, search.json.responseHeader.warnings]).toEqual([
      200,
      1,
      [...meant('limit', 'rows'), ...meant('category', 'fq=category:home')],
    ]);
    const xml = await send(`${PATH}/select?limit=5&wt=xml`);
    expect([xml.status, xml.text]).toEqual([200, expect.stringContaining('Did you mean rows?')]);
    const filtered = await send(`${PATH}/select?fq%5B%5D=category:garden&FQ=id:1`);
    expect([filtered.status, filtered.json.response.numFound]).toEqual([200, 0]);
    const clean = await send(`${PATH}/select?q=*:*&_=5&anything=x`);
    expect(clean.json.responseHeader).not.toHaveProperty('warnings');
    const refused = await send(`${PATH}/image?id=1`);
    expect([refused.status, refused.json.responseHeader.warnings]).toEqual([400, meant('id', 'rank.by.id')]);
    for (const path of ['terms?terms.fl=category&limit=1', 'groups?cursormark=x', 'schema?colection=x']) {
      const { status, json } = await send(`${PATH}/${path}`);
      expect([path, status, json.responseHeader.warnings?.length ?? 0]).toEqual([
        path,
        200,
        path.startsWith('schema') ? 0 : 1,
      ]);
    }
  });
});

describe('a wait for after', () => {
  it('that times out leaves a log line without a stack', async () => {
    await service.pause();
    const picture = [{ id: 'slow', image: 'http://pictures.example/slow.jpg' }];
    const { json } = await postJson(service.gateway, `${CORES}/update?async=true`, picture);
    const response = await send(`${SOLR}/select?after=${json.responseHeader.token}&afterTimeout=1`);
    expect([response.status, response.headers['retry-after']]).toEqual([503, '1']);
    const lines = service.log.lines.filter((line) => JSON.stringify(line).includes('token in after'));
    expect(lines).toHaveLength(1);
    expect(lines[0]?.fields).not.toHaveProperty('err');
    service.resume();
  });
});

describe('a thumbnail that comes with a document', () => {
  const vp8 = (width: number, height: number) => {
    const bytes = Buffer.alloc(40);
    bytes.write('RIFF....WEBPVP8 ');
    bytes.writeUInt32LE(32, 4);
    bytes.writeUInt16LE(width, 26);
    bytes.writeUInt16LE(height, 28);
    return bytes;
  };
  const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(40)]);
  const index = (bytes: Buffer) => {
    const document = { id: 't', import: outputsOf('red'), thumbnail: bytes.toString('base64') };
    return postJson(service.gateway, `${CORES}/update?commit=true`, document);
  };

  it.each<[string, Buffer, boolean]>([
    ['a JPEG', jpeg, true],
    ['a large WebP', vp8(300, 10), true],
    ['a WebP whose end is missing', vp8(10, 10).subarray(0, 35), true],
    ['a small WebP', vp8(256, 200), false],
  ])('%s', async (_, bytes, made) => {
    expect((await index(bytes)).status).toBe(200);
    const { headers, text } = await send(`${CORES}/thumbnail?id=t`);
    expect(headers).toMatchObject({ 'cross-origin-resource-policy': 'same-origin' });
    expect(headers['content-type']).toBe('image/webp');
    expect(text).toBe((made ? MADE : bytes).toString());
  });

  it('is refused with its document if it is damaged', async () => {
    const { status, json } = await index(Buffer.from([0xff, 0xd8, 0xff, 1]));
    expect(status).toBe(400);
    expect(json.error.details).toEqual([
      {
        position: 0,
        id: 't',
        code: 'image-undecodable',
        msg: 'Document "t" at position 0: the thumbnail cannot be used: The picture is cut off.',
      },
    ]);
  });
});

describe('originals', () => {
  const PATH = `${useCollection(service, 'files')}/original`;

  beforeAll(async () => {
    const documents = [
      { id: 'a b.jpg', source: '/photos', ...FILE },
      { id: 'posted', source: '/photos', path: 'a b.jpg' },
      { id: 'other.jpg', source: '/elsewhere', ...FILE },
      { id: 'bare' },
    ];
    await postJson(service.gateway, '/api/cores/files/update?commit=true', documents);
  });

  const get = (headers: Record<string, string> = {}, query = '?id=a%20b.jpg', method = 'GET') =>
    ask(service.gateway, `${PATH}${query}`, { method, headers });

  describe('the original of a document', () => {
    it('is complete, and no browser treats it as a page or shows it to another site', async () => {
      const { status, text, headers } = await get();
      expect([status, text]).toEqual([200, '0123456789']);
      expect(headers).toMatchObject({
        'content-type': 'image/jpeg',
        'content-length': '10',
        etag: '"v1"',
        'accept-ranges': 'bytes',
        'x-content-type-options': 'nosniff',
        'content-security-policy': 'sandbox',
        'cross-origin-resource-policy': 'same-origin',
      });
      const head = await get({}, undefined, 'HEAD');
      expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '10']);
      expect((await get({ 'if-none-match': '"v1"' })).status).toBe(304);
      const webp = await get({}, '?id=a%20b.jpg&format=webp');
      expect([webp.headers['content-type'], webp.headers.etag]).toEqual(['image/webp', '"v1-webp"']);
    });

    it.each([
      ['bytes=2-4', 206, '234', 'bytes 2-4/10'],
      ['bytes=7-', 206, '789', 'bytes 7-9/10'],
      ['bytes=-2', 206, '89', 'bytes 8-9/10'],
      ['bytes=5-99', 206, '56789', 'bytes 5-9/10'],
      ['bytes=10-', 416, '', 'bytes */10'],
      ['bytes=-0', 416, '', 'bytes */10'],
      ['bytes=1-2,4-5', 200, '0123456789', undefined],
      ['bytes=4-2', 200, '0123456789', undefined],
      ['lines=1-2', 200, '0123456789', undefined],
    ])('is sent in parts: %s', async (range, expected, part, contentRange) => {
      const { status, text, headers } = await get({ range });
      expect([status, text, headers['content-range']]).toEqual([expected, part, contentRange]);
      expect((await get({ range, 'if-range': '"v0"' })).text).toBe('0123456789');
    });

    it('is refused to pages of other sites', async () => {
      for (const site of ['cross-site', 'same-site']) expect((await get({ 'sec-fetch-site': site })).status).toBe(403);
      expect((await get({ 'sec-fetch-site': 'same-origin' })).status).toBe(200);
    });

    it.each(['?id=other.jpg', '?id=posted', '?id=bare', '?id=nobody'])('does not exist: %s', async (query) => {
      expect((await get({}, query)).status).toBe(404);
    });

    it('does not exist in another collection, nor in a later one of the same name', async () => {
      const { gateway } = service;
      const isFound = async (name: string) => {
        await ask(gateway, `/api/cores/${name}`, { method: 'PUT' });
        const document = { id: 'a b.jpg', source: '/photos', ...FILE };
        await postJson(gateway, `/api/cores/${name}/update?commit=true`, document);
        return (await ask(gateway, `/api/cores/${name}/original?id=a%20b.jpg`)).status;
      };
      expect([await isFound('tenant'), await isFound('files')]).toEqual([404, 200]);
      await ask(gateway, '/api/cores/files', { method: 'DELETE' });
      expect(await isFound('files')).toBe(404);
    });
  });
});

describe('wt=xml', () => {
  useCollection(service, 'xml');
  const C = '/solr/xml';
  beforeAll(async () => {
    const documents = [
      { id: '<1>', import: outputsOf('red'), labels: ['a&b', 'c'], price: 10, rate: 0.5, on: true, at: '2024-01-31' },
      { id: '2', import: outputsOf('blue'), labels: ['c'], price: 20, title: 'bell \u0007 & "quote" \r\n end' },
    ];
    expect((await postJson(service.gateway, `${C}/update?commit=true`, documents)).status).toBe(200);
  });

  const both = async (path: string, options?: TestRequest) => {
    const sign = path.includes('?') ? '&' : '?';
    const xml = await ask(service.gateway, `${path}${sign}wt=xml`, options);
    const json = await ask(service.gateway, `${path}${sign}wt=json&json.nl=map`, options);
    expect(xml.headers['content-type']).toBe('application/xml; charset=UTF-8');
    expect(xml.status).toBe(json.status);
    const { error } = json.json;
    if (error) error.metadata = { [error.metadata[0]]: error.metadata[1] };
    const read = readSolrXml(xml.text);
    // The collection may be in memory for the second search only.
    const varying = { QTime: 0, searcher: '' };
    for (const { responseHeader } of [read, json.json]) if (responseHeader) Object.assign(responseHeader, varying);
    return { xml: read, json: json.json, text: xml.text, status: xml.status };
  };

  it.each([
    '/select?q=id:2&fl=id,price,labels,score',
    '/select?q=*:*&sort=id+asc&fq=-id:2&indent=true',
    '/image?rank.by.id=2&rows=5',
    '/select?rows=0&facet=true&facet.field=labels&facet.field=on&facet.query=price:10&facet.missing=true',
    '/select?rows=0&facet=true&facet.range=price&facet.range.start=0&facet.range.end=30&facet.range.gap=10',
    '/schema',
    '/admin/ping',
    '/pixolution',
    '/select?q=a+AND',
    '/thumbnail?id=gone',
    '/update',
  ])('contains the same as JSON: %s', async (path) => {
    const { xml, json } = await both(`${C}${path}`);
    expect(xml).toEqual(bellsOf(json));
  });

  it.each([`${C}/mlt`, '/nothing', '/api/cores/%ff/select', '/api/cores/my-collection/terms/more'])(
    'is also used for unknown paths: %s',
    async (path) => {
      const { xml, json, status } = await both(`${path}?indent=true`);
      expect([xml, [400, 404]]).toEqual([json, expect.arrayContaining([status])]);
    },
  );

  it('says why a request is refused before its parameters are read', async () => {
    expect((await both(`${C}/select`, { method: 'DELETE' })).status).toBe(405);
    const foreign = { headers: { host: 'example.com' } };
    const { xml, json, status } = await both(`${C}/select`, foreign);
    expect([xml, status]).toEqual([json, 403]);
  });

  it('answers updates, also refused ones', async () => {
    const body = { headers: { 'content-type': 'text/xml' }, body: '<delete><id>none</id></delete>' };
    const done = await ask(service.gateway, `${C}/update?wt=xml&version=2.2`, body);
    expect(readSolrXml(done.text)).toMatchObject({ responseHeader: { status: 0 }, operations: { count: 1 } });
    const refused = await ask(service.gateway, `${C}/update?wt=xml`, { ...body, body: '<add><doc/></add>' });
    expect(refused.status).toBe(400);
    const { error } = readSolrXml(refused.text);
    expect(error).toMatchObject({ code: 400, msg: expect.stringContaining('"id" is required') });
    expect(error.details).toEqual([expect.objectContaining({ position: 0, code: 'bad-request' })]);
    expect(refused.text).toContain('<lst name="error"><lst name="metadata"><str name="error-class">bad-request</str>');
  });
});

/** Characters that XML does not allow are written by their numbers. */
function bellsOf(json: unknown): unknown {
  return JSON.parse(JSON.stringify(json).replaceAll('\\u0007', '#7;'));
}
