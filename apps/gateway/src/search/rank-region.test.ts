import { AkinError } from '@akin/domain';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { analyzeTestPicture, outputsOf } from '../../test/pictures.ts';
import { ask, postJson } from '../../test/start-gateway.ts';
import { useService } from '../../test/start-service.ts';
import type { Original } from '../config.ts';

const C = '/api/cores/my-collection';
const FILE = { source: 's', bytes: 1, file_hash: 1 };
const LEFT = '0,0,0.5,1';
const RIGHT = '.5,0,.5,1';

const FILES: Record<string, string> = { 'red.png': 'blue+red', 'broken.png': 'broken', 'vanished.png': 'vanished' };

const originalOf = (content: string): Original => ({
  size: content.length,
  modified: new Date(0),
  version: '1',
  type: 'image/png',
  read: async function* () {},
  webp: async () => new Uint8Array(),
  async analyze(modules, options) {
    if (content === 'vanished') throw new AkinError('image-unreachable', 'It vanished.');
    return analyzeTestPicture({ bytes: Buffer.from(content) }, modules, options);
  },
});
const service = useService({
  originals: {
    open: async ({ path }) => (FILES[path] === undefined ? undefined : originalOf(FILES[path])),
    forget: async () => {},
  },
});
beforeAll(async () => {
  const thumbnail = (picture: string) => Buffer.from(`RIFF0000WEBP${picture}`).toString('base64');
  const documents = [
    ...['red', 'red-2', 'blue', 'blue-2', 'green'].map((id) => ({ id, import: outputsOf(id) })),
    { id: 'file', import: outputsOf('x'), ...FILE, path: 'red.png', image: 'http://a.example/green+green.jpg' },
    { id: 'address', import: outputsOf('x'), ...FILE, path: 'gone.png', image: 'http://a.example/red+blue.jpg' },
    { id: 'thumbnail', import: outputsOf('x'), image: 'http://a.example/missing.jpg', thumbnail: thumbnail('+red') },
    {
      id: 'vanished',
      import: outputsOf('x'),
      ...FILE,
      path: 'vanished.png',
      image: 'http://a b.example/',
      thumbnail: thumbnail('+red'),
    },
    { id: 'lost', import: outputsOf('x'), ...FILE, path: 'broken.png' },
  ];
  expect((await postJson(service.gateway, `${C}/update?commit=true`, documents)).status).toBe(200);
});

type List = [string, string][];

async function get(endpoint: string, list: List, form?: FormData) {
  const written = form && new Response(form);
  const { status, json } = await ask(
    service.gateway,
    `${C}/${endpoint}?${new URLSearchParams(list)}`,
    written && {
      headers: { 'content-type': written.headers.get('content-type') ?? '' },
      body: Buffer.from(await written.arrayBuffer()),
    },
  );
  return { status, warnings: json.responseHeader?.warnings, message: json.error?.msg, ...json };
}
/** A region of a document. */
const partOf = (id: string, region: string): List => [
  ['rank.by.id', id],
  ['rank.region', region],
];
const first = async (list: List, endpoint = 'image', body?: FormData) => {
  const { response, message } = await get(
    endpoint,
    [...list, ['fl', 'id'], ['fq', '-id:(file address thumbnail vanished lost)']],
    body,
  );
  return response?.docs[0].id ?? message;
};

describe('a search by a region', () => {
  it('finds each of two objects in one picture, in every mode and for every way to give a picture', async () => {
    const both: [string, string] = ['rank.by.data', Buffer.from('red+blue').toString('base64')];
    for (const mode of ['content', 'color', 'duplicate']) {
      expect(await first([both, ['rank.region', LEFT], ['rank.mode', mode]], 'select')).toBe('red');
      expect(await first([both, ['rank.region', RIGHT], ['rank.mode', mode]], 'select')).toBe('blue');
    }
    expect(
      await first([
        ['rank.by.url', 'http://a.example/red+blue.jpg'],
        ['rank.region', RIGHT],
      ]),
    ).toBe('blue');
    const body = new FormData();
    body.append('file', new Blob(['green+red']));
    body.append('rank.region', LEFT);
    expect(await first([], 'image', body)).toBe('green');
  });

  it('takes one region for each picture, in their order, and none for other inputs', async () => {
    const pictures: List = [
      ['rank.by.url', 'http://a.example/green.jpg'],
      ['rank.by.outputs', outputsOf('green')],
      ['rank.by.url', 'http://a.example/red+blue.jpg'],
      ['rank.weights', '0,0,1'],
    ];
    expect(await first([...pictures, ['rank.region', ''], ['rank.region', RIGHT]])).toBe('blue');
    expect(await first([...pictures, ['rank.region', ''], ['rank.region', LEFT], ['rank.region', '']])).toBe('red');
    expect(await first([...pictures, ['rank.region', LEFT], ['rank.region', LEFT], ['rank.region', LEFT]])).toContain(
      'given 3 times for 2 pictures',
    );
    for (const input of [
      ['rank.by.hex', '0xff0000'],
      ['rank.by.text', 'red'],
      ['rank.by.outputs', outputsOf('red')],
    ]) {
      expect(await first([input as [string, string], ['rank.region', LEFT]], 'select')).toContain('for 0 pictures');
    }
    expect(await first([['rank.region', LEFT]], 'select')).toContain('for 0 pictures');
  });

  it('takes null in a list of JSON for a whole picture', async () => {
    const body = {
      'rank.by.id': ['green', 'file'],
      'rank.region': [null, RIGHT],
      'rank.weights': '0,1',
      fl: 'id',
      rows: 1,
    };
    const { json } = await postJson(service.gateway, `${C}/image`, { ...body, fq: 'id:(red blue)' });
    expect(json.response.docs).toEqual([{ id: 'red' }]);
  });

  it('cuts the region of a document from its file, else from its address, else from its thumbnail', async () => {
    for (const [id, region, expected] of [
      ['file', LEFT, 'blue'],
      ['file', RIGHT, 'red'],
      ['address', LEFT, 'red'],
      ['address', RIGHT, 'blue'],
      ['thumbnail', RIGHT, 'red'],
      ['vanished', RIGHT, 'red'],
    ] as const) {
      expect(await first(partOf(id, region))).toBe(expected);
    }
    const warnings = async (id: string) => (await get('image', partOf(id, RIGHT))).warnings;
    expect(await warnings('address')).toBeUndefined();
    expect(await warnings('thumbnail')).toEqual([expect.stringContaining('thumbnail')]);
    expect(
      await get('tag', [
        ['tagging.input.id', 'thumbnail'],
        ['tagging.input.region', RIGHT],
        ['tagging.field', 'id'],
        ['tagging.max', '2'],
      ]),
    ).toMatchObject({
      warnings: [expect.stringContaining('thumbnail')],
      tags: [{ tag: 'red' }, { tag: 'red-2' }],
    });
  });

  it('says what is wrong with a document that has no such picture', async () => {
    const statusOf = async (id: string) => (await get('image', partOf(id, RIGHT))).status;
    expect(await statusOf('nobody')).toBe(404);
    expect(await statusOf('red')).toBe(400);
    expect(await statusOf('lost')).toBe(422);
  });

  it.each(['1', '0,0,1', '0.6,0,0.5,1', 'x', '0,0,0,0', '[0,0,1,1]'])('refuses %j', async (region) => {
    const data = Buffer.from('red').toString('base64');
    for (const [endpoint, prefix, suffix] of [
      ['image', 'rank', 'by.data'],
      ['tag', 'tagging.input', 'data'],
      ['analyze', 'input', 'data'],
    ] as const) {
      const parameters: List = [
        [`${prefix}.${suffix}`, data],
        [`${prefix}.region`, region],
      ];
      expect(await get(endpoint, parameters)).toMatchObject({
        status: 400,
        message: expect.stringContaining(`Parameter ${prefix}.region`),
      });
    }
  });
});

it('analyzes a region, but not of words', async () => {
  const data = Buffer.from('red+blue').toString('base64');
  const { outputs } = await get('analyze', [
    ['input.data', data],
    ['input.region', RIGHT],
  ]);
  expect(outputs).toBe(outputsOf('blue'));
  const words: List = [
    ['input.text', 'red'],
    ['input.region', RIGHT],
  ];
  expect((await get('analyze', words)).status).toBe(400);
});
