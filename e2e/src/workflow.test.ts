import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type ServingAkin, serveAkin, temporaryFolder } from './akin.ts';
import { type PictureServer, servePictures } from './pictures.ts';
import { run } from './shell.ts';

let data: Awaited<ReturnType<typeof temporaryFolder>>;
let pictures: PictureServer;
let akin: ServingAkin;
beforeAll(async () => {
  data = await temporaryFolder();
  pictures = await servePictures();
  akin = await serveAkin(['--no-demo', '--data', data.folder]);
});
afterAll(async () => {
  await akin?.command.stop();
  await pictures?.[Symbol.asyncDispose]();
  await data?.remove();
});

it('does what the interface promises to a script in Python', async () => {
  const script = fileURLToPath(new URL('workflow.py', import.meta.url));
  const said = await run('python3', [script, akin.url, pictures.url], { install: 'apt-get install python3' });
  expect(said).toBe('done\n');
  expect(akin.command.err).toBe('');
});

it('does what a back end in Python does with Solr: pages, counts, and exports while others index', async () => {
  const script = fileURLToPath(new URL('solr_client.py', import.meta.url));
  expect(await run('python3', [script, akin.url], { install: 'apt-get install python3' })).toBe('done\n');
  expect(akin.command.err).toBe('');
});
