import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type OwnAkin, serveOnPostgres } from './akin.ts';
import { testedBlock } from './examples.ts';
import { picture, servePictures, UNLIKE } from './pictures.ts';
import { run } from './shell.ts';

const CLIENT = fileURLToPath(new URL('../../clients/python', import.meta.url));
const PYTHON = {
  install: 'apt-get install python3',
  env: { ...process.env, PYTHONPATH: CLIENT, PYTHONDONTWRITEBYTECODE: '1' },
};

let akin: OwnAkin;
beforeAll(async () => {
  akin = await serveOnPostgres(['--allow-loopback-images']);
});
afterAll(() => akin?.end());

describe('the client for Python', () => {
  it('has a README with a program that prints what the README says', async () => {
    await using pictures = await servePictures();
    await writeFile(path.join(akin.folder, 'picture.jpg'), await picture(3));
    const page = await readFile(path.join(CLIENT, 'README.md'), 'utf8');
    const block = testedBlock(page, 'python');
    const program = block.replaceAll('http://127.0.0.1:8983', akin.url).replaceAll('https://example.org', pictures.url);
    const expected = [...program.matchAll(/^ *print\(.*\) {2}# (.*)$/gm)].map(([, text]) => text);
    expect(expected).toHaveLength(10);
    const printed = await run('python3', ['-c', program], { ...PYTHON, cwd: akin.folder });
    expect(printed.trim().split('\n')).toEqual(expected);
  });

  it('raises errors that say what akin says, and sends and reads every digit', async () => {
    const program = `
import sys
from akin_client import *
shop = Client(sys.argv[1]).collection('digits')
shop.create()
shop.add({'id': 'x', 'big': 2**62, 'price': 79.0, 'note': 'a "b" \\\\ c'}, wait=True)
print(shop.get('x') == {'id': 'x', 'big': 2**62, 'price': 79.0, 'note': 'a "b" \\\\ c'}, shop.get('y'))
print(shop.search(filter=where('note:{} AND big:{}', 'a "b" \\\\ c', 2**62)).total)
print(shop.add([{'id': str(i)} for i in range(1500)])['operations']['count'], shop.commit() and sum(1 for _ in shop))
for wrong in (
    lambda: shop.add([{'id': 'z'}, {'id': 'y', 'price': 'dear'}]),
    lambda: shop.add_picture(b'no picture', id='p'),
    lambda: shop.similar(id='nobody'),
    lambda: shop._client.collection('nowhere').status(),
):
    try:
        wrong()
    except AkinError as error:
        print(type(error).__name__, error.status, len(str(error)) > 20)
print(shop.get('z'))`;
    const printed = await run('python3', ['-c', program, akin.url], PYTHON);
    expect(printed.trim().split('\n')).toEqual([
      ...['True None', '1', '1500 1501'],
      ...['BadRequestError 400 True', 'PictureError 415 True', 'NotFoundError 404 True', 'NotFoundError 404 True'],
      'None',
    ]);
  });
});

describe('the example import_pipeline.py', () => {
  it('keeps pictures of the same name in different folders apart, with thumbnails', async () => {
    const folder = path.join(akin.folder, 'pipeline');
    for (const below of ['a', 'b']) {
      await mkdir(path.join(folder, below), { recursive: true });
      await writeFile(path.join(folder, below, 'front.png'), await picture(below === 'a' ? 3 : 4));
    }
    const script = fileURLToPath(new URL('../../examples/import_pipeline.py', import.meta.url));
    expect(await run('python3', [script, akin.url, akin.url, folder], PYTHON)).toBe('2 pictures stored\n');
    const collection = akin.client.collection('my-collection');
    for (const id of ['a/front.png', 'b/front.png']) {
      const thumbnail = await fetch(`${akin.url}/api/cores/my-collection/thumbnail?${new URLSearchParams({ id })}`);
      expect(thumbnail.headers.get('content-type')).toBe('image/webp');
    }
    await collection.deleteByIds(['a/front.png', 'b/front.png'], { commit: true });
  });
});

/** An object as an S3 server lists it. */
interface StoredObject {
  readonly bytes: Buffer;
  etag: string;
}

/** A bucket that lists two objects a page, as ListObjectsV2 answers. */
async function serveBucket(objects: Map<string, StoredObject>) {
  const reads: string[] = [];
  const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  const list = (query: URLSearchParams) => {
    const keys = [...objects.keys()].sort().filter((key) => key.startsWith(query.get('prefix') ?? ''));
    const from = Number(query.get('continuation-token')?.slice('page+/='.length) ?? 0);
    const contents = keys.slice(from, from + 2).map((key) => {
      const { bytes, etag } = objects.get(key) as StoredObject;
      return `<Contents><Key>${escaped(key)}</Key><ETag>${escaped(etag)}</ETag><Size>${bytes.length}</Size></Contents>`;
    });
    const more = from + 2 < keys.length;
    const next = more ? `<NextContinuationToken>page+/=${from + 2}</NextContinuationToken>` : '';
    return `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>shoes</Name><KeyCount>${contents.length}</KeyCount><IsTruncated>${more}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`;
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://bucket');
    if (pathname === '/shoes/' && searchParams.get('list-type') === '2') {
      return void response.setHeader('content-type', 'application/xml').end(list(searchParams));
    }
    const key = decodeURIComponent(pathname.replace('/shoes/', ''));
    const object = objects.get(key);
    if (!object) return void response.writeHead(404).end();
    reads.push(key);
    response.end(object.bytes);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/shoes`,
    reads,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('the example that reads a bucket', () => {
  it('stores all pictures of all pages of the listing, and later only what is new or changed', async () => {
    const keys = ['a b+c.jpg', 'folder/"quoted" & <é>.JPG', 'folder/notes.txt', 'red.jpeg', 'z.jpg'];
    const bytes = await Promise.all(UNLIKE.map((seed) => picture(seed)));
    const objects = new Map(keys.map((key, at) => [key, { bytes: bytes[at % 4] as Buffer, etag: `"${at}-1"` }]));
    await using bucket = await serveBucket(objects);
    const script = fileURLToPath(new URL('../../examples/import_bucket.py', import.meta.url));
    const read = (...more: string[]) => run('python3', [script, `${bucket.url}/`, akin.url, ...more], PYTHON);
    const pictures = keys.filter((key) => key !== 'folder/notes.txt');

    expect(await read('folder/')).toBe('1 pictures, 1 of them new or changed\n');
    expect(await read()).toBe('4 pictures, 3 of them new or changed\n');
    expect([...bucket.reads].sort()).toEqual(pictures);

    const collection = akin.client.collection('my-collection');
    const { response } = await collection.image({ 'rank.by.id': 'z.jpg', rows: 1, fl: 'id,image,etag,score' });
    expect(response.docs).toEqual([{ id: 'z.jpg', image: `${bucket.url}/z.jpg`, etag: '"4-1"', score: 1 }]);
    expect((await collection.select({ sort: 'id asc', fl: 'id' })).response.docs.map(({ id }) => id)).toEqual(pictures);

    (objects.get('red.jpeg') as StoredObject).etag = '"3-2"';
    expect(await read()).toBe('4 pictures, 1 of them new or changed\n');
    expect(bucket.reads.slice(4)).toEqual(['red.jpeg']);
  });
});
