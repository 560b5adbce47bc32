import { AkinError } from '@akin/domain';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { outputsOf } from '../../test/pictures.ts';
import { sendRaw } from '../../test/replay.ts';
import { ask, FORM_BODY, JSON_BODY, postJson, type TestRequest } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

const SOLR = '/solr/my-collection';
const CORES = '/api/cores/my-collection';
/** What the thumbnails of this test are converted to. */
const MADE = Buffer.from('RIFF....WEBPmade');

let service: Service;
beforeAll(async () => {
  service = await startService({
    version: '4.5.6',
    makeThumbnail: async (bytes) => {
      if (bytes.length < 20) throw new AkinError('image-undecodable', 'The picture is cut off.');
      return MADE;
    },
  });
  const documents = [
    { id: '1', title: 'red shoe', n: 1 },
    { id: '2', title: 'blue shoe', n: 2 },
  ];
  await postJson(service.gateway, `${SOLR}/update?commit=true`, documents);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
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
    ['/select?sort=nosuch%20asc', '400 Parameter sort: no document has a field "nosuch".'],
    ['/select?sort=titel%20asc', '400 Parameter sort: no document has a field "titel" (did you mean "title"?).'],
    ['/select?sort=_version_%20asc', '400 Parameter sort: documents cannot be ordered by "_version_".'],
    [
      '/select?sort=text%20asc',
      '400 Parameter sort: documents cannot be ordered by "text", which is not a single value.',
    ],
    ['/image?rank.by.url=http://a:99999/', expect.stringMatching(/^400 Parameter rank.by.url: .* is invalid/)],
    ['/image?rank.by.url=a.jpg', expect.stringMatching(/^400 Parameter rank.by.url: .* must be absolute/)],
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

describe('old programs', () => {
  it('may use HTTP/1.0 without a Host', async () => {
    const { status } = await sendRaw(service.gateway.port, `GET ${SOLR}/admin/ping HTTP/1.0\r\n\r\n`);
    expect(status).toBe(200);
    const wrong = await sendRaw(service.gateway.port, `GET ${SOLR}/admin/ping HTTP/1.0\r\nHost: evil.example\r\n\r\n`);
    expect(wrong.status).toBe(403);
    const later = await sendRaw(service.gateway.port, `GET ${SOLR}/admin/ping HTTP/1.1\r\nConnection: close\r\n\r\n`);
    expect(later.status).toBe(403);
  });
});

describe('the version', () => {
  it('is that of the program', async () => {
    expect((await send('/openapi.json')).json.info.version).toBe('4.5.6');
  });
});

describe('a wait for after', () => {
  it('that times out leaves a log line without a stack', async () => {
    service.pause();
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

  it('is named if there is none', async () => {
    const { status, json } = await send(`${CORES}/thumbnail?id=%22nobody`);
    expect([status, json.error.msg]).toEqual([404, expect.stringContaining('no thumbnail of "\\"nobody"')]);
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
