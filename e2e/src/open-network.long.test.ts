import { request } from 'node:http';
import { expect, it } from '@jest/globals';
import { akinDatabase, type ServingAkin, serveAkin, temporaryFolder } from './akin.ts';
import { servePictures } from './pictures.ts';

const ANALYZE = '/api/cores/my-collection/analyze?modules.apply=copyspace&input.url=';

it('akin serve on an open network fetches nothing from its own machine, answers to no foreign name, and requires its first key', async () => {
  await using pictures = await servePictures();
  const [{ folder, remove }, database] = await Promise.all([temporaryFolder(), akinDatabase()]);
  // As the image of one container sets them.
  const env = { AKIN_HOST: '0.0.0.0', AKIN_DATA: folder, AKIN_NO_DEMO: 'true', DATABASE_URL: database.url };
  /** Runs akin, with clients that may send any header. */
  const serving = async (
    args: readonly string[],
    more: NodeJS.ProcessEnv,
    test: (akin: ServingAkin, ask: (...asked: Asked) => ReturnType<typeof send>) => Promise<void>,
  ) => {
    const akin = await serveAkin(args, { ...env, ...more });
    try {
      await test(akin, (...asked) => send(Number(new URL(akin.url).port), ...asked));
    } finally {
      await akin.command.stop();
    }
  };
  try {
    await serving(['--allow-open-network'], {}, async ({ url }, ask) => {
      const analysis = await ask(`${ANALYZE}${pictures.url}/1.jpg`);
      expect([analysis.status, analysis.text]).toEqual([422, expect.stringContaining('--allow-loopback-images')]);
      const rebound = { host: `evil.example:${new URL(url).port}`, origin: `http://evil.example:${new URL(url).port}` };
      const forged = await ask('/api/keys?scope=admin', 'POST', rebound);
      expect([forged.status, forged.text]).toEqual([403, expect.stringContaining('--allowed-hosts')]);
      expect((await ask('/api/keys?scope=admin', 'POST')).status).toBe(403);
    });
    let key = '';
    await serving([], { AKIN_FIRST_KEY: 'true' }, async ({ command }, ask) => {
      const printed = command.out.match(/akin_\w+/g) ?? [];
      expect(printed).toHaveLength(1);
      [key = ''] = printed;
      expect((await ask('/api/cores')).status).toBe(401);
      expect((await ask('/api/keys', 'GET', { authorization: `Bearer ${key}` })).status).toBe(200);
    });
    await serving(['--allow-loopback-images'], { AKIN_FIRST_KEY: 'true' }, async ({ command }, ask) => {
      const authorization = `Bearer ${key}`;
      expect((await ask('/api/keys', 'GET', { authorization })).status).toBe(200);
      expect((await ask(`${ANALYZE}${pictures.url}/1.jpg`, 'GET', { authorization })).status).toBe(200);
      expect(command.out).not.toMatch(/akin_|first key/);
    });
  } finally {
    await database.drop();
    await remove();
  }
});

type Asked = [path: string, method?: string, headers?: Record<string, string>];

/** Fetch would not send these headers. */
function send(
  port: number,
  ...[path, method = 'GET', headers = {}]: Asked
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
