import { beforeAll, describe, expect, it } from '@jest/globals';
import { analyzeTestPicture, outputsOf } from '../../test/pictures.ts';
import { ask, JSON_BODY, postJson } from '../../test/start-gateway.ts';
import { useService } from '../../test/start-service.ts';

const PREFIXES = ['/api/cores', '/solr'] as const;

const service = useService({
  limits: { parameters: 30 },
  analyze: async (input, ...options) =>
    'bytes' in input && input.bytes.length > 1_000_000
      ? { outputs: `${input.bytes.length} bytes` }
      : analyzeTestPicture(input, ...options),
});
beforeAll(async () => {
  const documents = ['red', 'red-2', 'blue', 'green'].map((id) => ({ id, import: outputsOf(id), labels: [id] }));
  expect((await postJson(service.gateway, '/api/cores/my-collection/update?commit=true', documents)).status).toBe(200);
});

type Entry = readonly [name: string, value: string | Blob];
/** In the format of fetch, and so of every browser. */
async function multipart(...entries: readonly Entry[]): Promise<{ type: string; body: Buffer }> {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value as Blob);
  const written = new Response(form);
  return { type: written.headers.get('content-type') ?? '', body: Buffer.from(await written.arrayBuffer()) };
}
const picture = (name: string) => new Blob([name], { type: 'image/jpeg' });
const send = (path: string, type: string, body: string | Uint8Array, more: object = {}) =>
  ask(service.gateway, path, { body, headers: { 'content-type': type }, ...more });
const post = async (path: string, ...entries: readonly Entry[]) => {
  const { type, body } = await multipart(...entries);
  return send(path, type, body);
};
const ids = ({ json }: { json: { response: { docs: { id: string }[] } } }) => json.response.docs.map(({ id }) => id);
const refusal = ({ status, json }: { status: number; json: { error: { msg: string } } }) => [status, json.error.msg];

describe.each(PREFIXES)('a picture as bytes below %s', (prefix) => {
  const C = `${prefix}/my-collection`;

  it('ranks in a part "file", with other parts as parameters', async () => {
    for (const endpoint of ['image', 'color', 'select', 'query']) {
      const response = await post(`${C}/${endpoint}`, ['file', picture('red')], ['rows', '2'], ['fl', 'id,score']);
      expect([endpoint, ids(response)]).toEqual([endpoint, ['red', 'red-2']]);
      expect(response.json.response.docs[0].score).toBe(1);
    }
    const copies = await post(`${C}/duplicate?rows=5`, ['file', picture('blue')]);
    expect(ids(copies)).toEqual(['blue']);
  });

  it('that curl sends as a form is refused with what to do', async () => {
    for (const head of ['\xff\xd8\xff\xe0\0\x10JFIF%zz', '\x89PNG\r\n\x1a\n', 'RIFF\n&=%WEBPVP8 ']) {
      const response = await send(`${C}/image`, 'application/x-www-form-urlencoded', Buffer.from(head, 'latin1'));
      expect(refusal(response)).toEqual([415, expect.stringContaining('send it with Content-Type: image/jpeg')]);
    }
  });

  it('ranks as a whole body, with parameters in the URL', async () => {
    for (const type of ['image/jpeg', 'IMAGE/PNG', 'application/octet-stream']) {
      expect(ids(await send(`${C}/image?rows=1`, type, 'blue'))).toEqual(['blue']);
    }
    expect(ids(await send(`${C}/select?rows=1`, 'image/webp', 'green', { chunked: true }))).toEqual(['green']);
  });

  it('keeps its position among the other inputs, for their weights', async () => {
    const entries: Entry[] = [
      ['file', picture('red')],
      ['rank.by.id', 'blue'],
      ['file', picture('green')],
      ['rows', '1'],
    ];
    for (const [weights, first] of [
      ['1,-0.2,-0.3', 'red'],
      ['-0.2,1,-0.3', 'blue'],
      ['-0.2,-0.3,1', 'green'],
    ] as const) {
      const response = await post(`${C}/image`, ...entries, ['rank.weights', weights]);
      expect([weights, ids(response)]).toEqual([weights, [first]]);
    }
  });

  it('may be missing from a form beside another input, and may be named as the file of an array', async () => {
    const empty: Entry[] = [
      ['file', new Blob([])],
      ['photo', new Blob([])],
    ];
    expect(ids(await post(`${C}/image`, ...empty, ['rank.by.id', 'blue'], ['rows', '1']))).toEqual(['blue']);
    expect(ids(await post(`${C}/image?rank.by.id=blue&rows=1`, ...empty))).toEqual(['blue']);
    expect(ids(await post(`${C}/select`, ...empty, ['q', 'id:blue']))).toEqual(['blue']);
    expect(ids(await post(`${C}/image`, ['file[]', picture('green')], ['rows', '1']))).toEqual(['green']);
  });

  it('is analyzed and tagged', async () => {
    const { outputs } = (await post(`${C}/analyze?modules.apply=color`, ['file', picture('red')])).json;
    expect(JSON.parse(outputs).color_names).toEqual(['red']);
    expect((await send(`${C}/analyze`, 'image/png', 'blue')).json.outputs).toContain('"blue"');
    const { tags } = (await post(`${C}/tag`, ['file', picture('green')], ['tagging.max', '1'])).json;
    expect(tags[0]).toMatchObject({ tag: 'green' });
  });

  it('is refused together with another one if one is required, and if it is missing', async () => {
    expect(refusal(await post(`${C}/analyze?input.url=http://a.example/b.jpg`, ['file', picture('red')]))).toEqual([
      400,
      expect.stringContaining('Give one picture'),
    ]);
    const two: Entry[] = [
      ['file', picture('red')],
      ['file', picture('blue')],
    ];
    for (const endpoint of ['analyze', 'tag']) {
      expect((await post(`${C}/${endpoint}`, ...two)).status).toBe(400);
      expect((await post(`${C}/${endpoint}`, ['rows', '1'])).status).toBe(400);
    }
    expect((await post(`${C}/tag?tagging.input.id=red`, ['file', picture('red')])).status).toBe(400);
    for (const [endpoint, parameter] of [
      ['analyze', 'input.data'],
      ['tag', 'tagging.input.data'],
    ] as const) {
      expect((await post(`${C}/${endpoint}`, ['file', picture('red')], [parameter, 'Ymx1ZQ=='])).status).toBe(400);
      expect((await send(`${C}/${endpoint}?${parameter}=Ymx1ZQ==`, 'image/jpeg', 'red')).status).toBe(400);
    }
    expect(refusal(await post(`${C}/image`, ['rows', '1']))).toEqual([400, expect.stringContaining('Nothing to rank')]);
    expect(refusal(await send(`${C}/select`, 'image/png', ''))).toEqual([
      400,
      'The body is empty: send the bytes of a picture.',
    ]);
    expect(refusal(await post(`${C}/select`, ['file', new Blob([])]))).toEqual([
      400,
      'The part "file" is empty: send the bytes of a picture.',
    ]);
  });
});

describe('a multipart body', () => {
  const C = '/api/cores/my-collection';

  it('is refused with what is wrong', async () => {
    const { type, body } = await multipart(['file', picture('red')], ['rows', '1']);
    const cases: readonly [string, string | Uint8Array, string][] = [
      ['multipart/form-data', body, 'names no boundary'],
      [type, body.subarray(0, body.length - 30), 'cut off'],
      [`${type}x`, body, 'cut off'],
      [type, '', 'cut off'],
      [
        'multipart/form-data; boundary=b',
        '--b\r\nContent-Type: image/png\r\n\r\nred\r\n--b--\r\n',
        'Nothing to rank by',
      ],
      ['multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data\r\n\r\nred\r\n--b--\r\n', 'no name'],
      ['multipart/form-data; boundary=b', named('q', Buffer.from([0xff])), 'The part "q" is not UTF-8'],
    ];
    for (const [header, sent, problem] of cases) {
      expect(refusal(await send(`${C}/image`, header, sent))).toEqual([400, expect.stringContaining(problem)]);
    }
    expect(refusal(await post(`${C}/image`, ['photo', picture('red')]))).toEqual([
      400,
      'The part "photo" is a file: send a picture as the part "file".',
    ]);
  });

  it('has a limited number of parts', async () => {
    const parts = Array.from({ length: 31 }, (_, i): Entry => [`p${i}`, 'x']);
    expect(refusal(await post(`${C}/select`, ...parts))).toEqual([400, expect.stringContaining('more than 30 parts')]);
    expect((await post(`${C}/select`, ...parts.slice(0, 30))).status).toBe(200);
  });

  it('keeps names and values as they are', async () => {
    const q = 'naïve "ü"\r\n+%41&=';
    const response = await post(`${C}/select?echoParams=all`, ['q', `{!term f=labels}${q}`], ['file', picture('red')]);
    expect(response.json.responseHeader.params).toMatchObject({
      q: `{!term f=labels}${q}`,
      'rank.by.data': '(file 1: 3 bytes)',
    });
  });
});

describe('a picture that is too large', () => {
  const C = '/api/cores/my-collection';
  const large = Buffer.alloc(25_000_001);

  it('is a 413 with the limit, in a part and as a body', async () => {
    const part = await post(`${C}/analyze`, ['file', new Blob([large])]);
    const raw = await send(`${C}/analyze`, 'image/jpeg', large);
    const chunked = await send(`${C}/analyze`, 'image/jpeg', large, { chunked: true });
    for (const response of [part, raw, chunked]) {
      expect(refusal(response)).toEqual([413, expect.stringContaining('more than 25 MB')]);
    }
    expect((await send(`${C}/analyze`, 'image/jpeg', large.subarray(1))).json.outputs).toBe('25000000 bytes');
  });
});

describe('elsewhere', () => {
  it('a file is refused with the accepted types', async () => {
    const { type, body } = await multipart(['file', picture('red')]);
    const response = await send('/api/cores/my-collection/terms', type, body);
    expect(refusal(response)).toEqual([415, 'A body of "multipart/form-data" is not read here: send a form.']);
    expect(
      (await ask(service.gateway, '/api/cores/my-collection/image', { body: '{}', headers: JSON_BODY })).status,
    ).toBe(400);
  });
});

function named(name: string, value: Uint8Array): Buffer {
  return Buffer.concat([
    Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
    value,
    Buffer.from('\r\n--b--\r\n'),
  ]);
}
