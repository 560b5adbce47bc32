import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createClient } from '@akin/client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runAkin, type ServingAkin, serveAkin, temporaryFolder } from './akin.ts';
import { pasteJson } from './shell.ts';

let data: Awaited<ReturnType<typeof temporaryFolder>>;
let akin: ServingAkin;
const inPlace = (name: string) => path.join(data.folder, name);
beforeAll(async () => {
  data = await temporaryFolder();
  const killed = await serveAkin(['--data', inPlace('data')], {}, { first: true });
  await killed.command.waitForOutput(/Demo: 64 of/);
  await killed.command.stop('SIGKILL');
  akin = await serveAkin(['--data', inPlace('data')]);
  await akin.command.waitForOutput(/Three requests/);
});
afterAll(async () => {
  await akin?.command.stop();
  await data?.remove();
});

const documents = async () => (await akin.client.collection('my-collection').status()).documents;

describe('the next start', () => {
  let backup: string;
  let key: string;
  let before: number;

  it('fills the demo to its end after it was killed half-way', async () => {
    const demo = await readFile(new URL('../../apps/akin/demo/documents.json', import.meta.url), 'utf8');
    expect(await documents()).toBe(JSON.parse(demo).documents.length);
    expect(akin.command.err).toBe('');
  });

  it('comes after a backup, taken while changes and searches go on', async () => {
    backup = inPlace('akin.backup');
    before = await documents();
    key = (await akin.client.createKey({ scope: 'search' })).key;
    const collection = akin.client.collection('my-collection');
    // Accepted, but not visible yet.
    await collection.add([{ id: 'waits', title: 'waits for a commit' }], { async: true });
    const saving = runAkin(['backup', backup, '--data', inPlace('data')]);
    let saved: Awaited<typeof saving> | undefined;
    void saving.then((ended) => {
      saved = ended;
    });
    for (let more = 0; saved === undefined; more += 1) {
      await collection.add([{ id: `later-${more}`, number: more }], { commit: true });
      expect((await collection.image({ 'rank.by.id': 'demo-006', rows: 1 })).response.docs).toHaveLength(1);
    }
    expect([saved.err, saved.code]).toEqual(['', 0]);
    expect(await akin.command.stop('SIGINT')).toMatchObject({ code: 0, signal: null });
  });

  it('does not fill the demo again, takes its flags from the environment, and prints requests for a key', async () => {
    akin = await serveAkin([], {
      AKIN_DATA: inPlace('data'),
      AKIN_REQUIRE_KEYS: 'yes',
      AKIN_CORS: 'https://shop.example',
      AKIN_LEGACY_SEGMENT: 'flow',
    });
    await akin.command.waitForOutput(/Three requests to paste, with a key in the variable AKIN_KEY:\n(.*\n){3}/);
    const requests = akin.command.out.match(/^ {2}curl .*$/gm) ?? [];
    expect(requests).toHaveLength(3);
    for (const request of requests) {
      expect((await pasteJson(`AKIN_KEY=${key}; ${request}`)).responseHeader.status).toBe(0);
    }
    const headers = { origin: 'https://shop.example', authorization: `Bearer ${key}` };
    const response = await fetch(`${akin.url}/flow/my-collection/select`, { headers });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, headers.origin]);
    expect((await fetch(`${akin.url}/solr/my-collection/select`, { headers })).status).toBe(404);
    expect(akin.command.out).not.toMatch(/Demo:/);
    await akin.command.stop();
  });

  it('from the backup has what was accepted before it, and does not go on with the demo among other documents', async () => {
    const restored = inPlace('restored');
    expect(await runAkin(['restore', backup, '--data', restored])).toMatchObject({ code: 0, err: '' });
    // As a killed first start leaves it.
    await mkdir(path.join(restored, 'demo'), { recursive: true });
    await writeFile(path.join(restored, 'demo', 'my-collection.filled'), '');
    akin = await serveAkin(['--data', restored]);
    await akin.command.waitForOutput(/Three requests/);
    expect(akin.command.out).not.toMatch(/Demo:/);
    expect((await createClient({ baseUrl: akin.url, key }).collection('my-collection').status()).scope).toBe('search');
    const collection = akin.client.collection('my-collection');
    await collection.commit();
    const found = async (q: string) => (await collection.select({ q, rows: 0 })).response.numFound;
    expect([await found('-id:later-*'), await found('id:waits')]).toEqual([before + 1, 1]);
    expect((await collection.image({ 'rank.by.id': 'demo-006', rows: 5 })).response.docs).toHaveLength(5);
  });
});
