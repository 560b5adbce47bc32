import { createReadStream } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type OwnAkin, serveOnPostgres } from './akin.ts';
import { type PictureServer, picture, servePictures } from './pictures.ts';
import { run } from './shell.ts';

let pictures: PictureServer;
let akin: OwnAkin;
beforeAll(async () => {
  pictures = await servePictures();
  akin = await serveOnPostgres();
});
afterAll(async () => {
  await akin?.end();
  await pictures?.[Symbol.asyncDispose]();
});

it('does what a back end in Python does with Solr: pages, counts, and exports while others index', async () => {
  const script = fileURLToPath(new URL('solr_client.py', import.meta.url));
  expect(await run('python3', [script, akin.url], { install: 'apt-get install python3' })).toBe('done\n');
  expect(akin.command.err).toBe('');
});

it('takes a picture from the client in whatever shape a program has it', async () => {
  const bytes = await picture(8);
  const path = join(akin.folder, 'picture.jpg');
  await writeFile(path, bytes);
  const collection = akin.client.collection('my-collection');
  const { outputs } = await collection.analyze(bytes);
  await collection.add([{ id: 'from the client', import: outputs }], { commit: true });
  const shapes = {
    path,
    'an address': `${pictures.url}/8.jpg`,
    'a URL': new URL(`${pictures.url}/8.jpg`),
    'a Buffer': bytes,
    'a Blob': new Blob([new Uint8Array(bytes)]),
    'a File': new File([new Uint8Array(bytes)], 'a.jpg', { type: 'image/jpeg' }),
    'a Readable': createReadStream(path),
    'a ReadableStream': Readable.toWeb(Readable.from([await readFile(path)])) as ReadableStream<Uint8Array>,
  };
  for (const [shape, file] of Object.entries(shapes)) {
    const { response } = await collection.duplicate({ fq: 'id:"from the client"', fl: 'id,score' }, { file });
    expect([shape, response.docs]).toEqual([shape, [{ id: 'from the client', score: 1 }]]);
  }
  const two = await collection.image({ 'rank.weights': '1,-0.5', rows: 1 }, { file: [bytes, await picture(3)] });
  expect(two.response.docs[0]?.id).toBe('from the client');
  await expect(collection.tag({}, { file: new Blob(['no picture']) })).rejects.toMatchObject({ status: 415 });
});
