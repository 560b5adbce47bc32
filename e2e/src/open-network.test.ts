import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type ServingAkin, serveAkin, temporaryFolder } from './akin.ts';
import { type PictureServer, servePictures } from './pictures.ts';

let pictures: PictureServer;
beforeAll(async () => {
  pictures = await servePictures();
});
afterAll(async () => {
  await pictures[Symbol.asyncDispose]();
});

/** Runs a test with an akin on an empty data folder. */
async function serving(args: readonly string[], test: (akin: ServingAkin) => Promise<void>): Promise<void> {
  const { folder, remove } = await temporaryFolder();
  const akin = await serveAkin(['--no-demo', '--threads', '1', '--data', folder, ...args]);
  try {
    await test(akin);
  } finally {
    await akin.command.stop();
    await remove();
  }
}

const OPEN = ['--host', '0.0.0.0', '--allow-open-network'];
const ANALYZE = '/api/cores/my-collection/analyze?modules.apply=copyspace&input.url=';

describe('akin serve on an open network', () => {
  it('fetches nothing from its own machine, answers to no foreign name, and creates no keys', () =>
    serving(OPEN, async ({ url }) => {
      const port = Number(new URL(url).port);
      const analysis = await ask(port, `${ANALYZE}${pictures.url}/1.jpg`);
      expect([analysis.status, analysis.text]).toEqual([422, expect.stringContaining('--allow-loopback-images')]);
      const rebound = { host: `evil.example:${port}`, origin: `http://evil.example:${port}` };
      const forged = await ask(port, '/api/keys?scope=admin', 'POST', rebound);
      expect([forged.status, forged.text]).toEqual([403, expect.stringContaining('--allowed-hosts')]);
      expect((await ask(port, '/api/keys?scope=admin', 'POST')).status).toBe(403);
    }));
});

it('akin serve creates a first key with --first-key, prints it once, and requires a key from every client', async () => {
  const { folder, remove } = await temporaryFolder();
  // As the image of one container sets them.
  const env = { AKIN_HOST: '0.0.0.0', AKIN_DATA: folder, AKIN_FIRST_KEY: 'true' };
  const start = (...args: string[]) => serveAkin(['--no-demo', '--threads', '1', ...args], env);
  try {
    const first = await start();
    const [key = '', ...more] = first.command.out.match(/akin_\w+/g) ?? [];
    expect(more).toEqual([]);
    const port = Number(new URL(first.url).port);
    expect((await ask(port, '/api/cores')).status).toBe(401);
    expect((await ask(port, '/api/keys', 'GET', { authorization: `Bearer ${key}` })).status).toBe(200);
    await first.command.stop();
    const second = await start('--allow-loopback-images');
    const port2 = Number(new URL(second.url).port);
    const authorization = `Bearer ${key}`;
    expect((await ask(port2, '/api/keys', 'GET', { authorization })).status).toBe(200);
    // It fetches from its own machine if an option allows it.
    expect((await ask(port2, `${ANALYZE}${pictures.url}/1.jpg`, 'GET', { authorization })).status).toBe(200);
    const { out } = await second.command.stop();
    expect(out).not.toMatch(/akin_|first key/);
  } finally {
    await remove();
  }
});

it('akin serve for its own machine fetches from it, but not for a page of another site', () =>
  serving([], async ({ url }) => {
    const port = Number(new URL(url).port);
    expect((await ask(port, `${ANALYZE}${pictures.url}/1.jpg`)).status).toBe(200);
    const foreign = await ask(port, `${ANALYZE}${pictures.url}/1.jpg`, 'GET', { 'sec-fetch-site': 'cross-site' });
    expect([foreign.status, foreign.text]).toEqual([403, expect.stringContaining('another origin')]);
  }));

/** Fetch would not send these headers. */
function ask(
  port: number,
  path: string,
  method = 'GET',
  headers: Record<string, string> = {},
): Promise<{ status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
      });
      response.on('error', reject).on('end', () => resolve({ status: response.statusCode, text }));
    })
      .on('error', reject)
      .end();
  });
}
