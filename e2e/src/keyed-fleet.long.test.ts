import { freePort, type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RunningCommand, runAkin, until } from './akin.ts';
import { run } from './shell.ts';

const FLEET_KEY = 'a-long-text-that-nobody-guesses';

describe('a fleet that other machines can reach', () => {
  let database: TestDatabase;
  const running: RunningCommand[] = [];
  const start = async (args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const command = new RunningCommand(args, { env });
    running.push(command);
    return command;
  };
  const status = async (url: string, headers: Record<string, string> = {}, body?: string) => {
    const response = await fetch(url, { headers, ...(body === undefined ? {} : { method: 'POST', body }) });
    return response.status;
  };
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

  beforeAll(async () => {
    database = await testDatabase();
  });
  afterAll(async () => {
    await Promise.all(running.map((command) => command.stop()));
    await database?.drop();
  });

  it('has gateways that wait for a first key, and then require one from every client', async () => {
    const port = await freePort();
    const env = { DATABASE_URL: database.url, AKIN_FLEET_KEY: FLEET_KEY };
    await start(['gateway', '--host', '0.0.0.0', '--port', String(port)], env);
    const url = `http://127.0.0.1:${port}`;
    const readiness = async () => {
      const response = await fetch(`${url}/health/ready`).catch(() => undefined);
      return [response?.status, await response?.text()] as const;
    };
    await until('it says what it waits for', async () => (await readiness())[1]?.includes('keys create') === true);
    expect(await status(`${url}/api/cores`)).toBe(503);
    expect(await status(`${url}/metrics`)).toBe(401);

    // The command that it prints, pasted into a shell with the same environment.
    const [, command = ''] = /\n {2}(node .*)\n/.exec(JSON.parse((await readiness())[1] ?? '').error.msg) ?? [];
    const key = (await run('sh', ['-c', command], { env: { ...process.env, ...env } })).trim();
    expect(key).toMatch(/^akin_\w+$/);
    await until('it is ready', async () => (await readiness())[0] === 200);
    expect([await status(`${url}/api/cores`), await status(`${url}/api/cores`, bearer(key))]).toEqual([401, 200]);
    // The fleet key allows metrics and nothing else.
    expect(await status(`${url}/metrics`, bearer(FLEET_KEY))).toBe(200);
    expect(await status(`${url}/api/cores`, bearer(FLEET_KEY))).toBe(401);
    const list = await runAkin(['keys', 'list', '--url', url], { env: { AKIN_KEY: key } });
    expect(list.out).toMatch(/^id .*\n[0-9a-f]{12} +admin/);
    // Not part of the fleet, but in its database.
    const id = /_([0-9a-f]{12})_/.exec(key)?.[1] as string;
    expect((await runAkin(['keys', 'revoke', id], { env })).code).toBe(0);
    await until('it is revoked', async () => (await status(`${url}/api/cores`, bearer(key))) === 401);
  });

  it('has analyzers that accept pictures from everyone who has the fleet key', async () => {
    const refused = await runAkin(['analyze-node', '--host', '0.0.0.0', '--port', '0']);
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('AKIN_FLEET_KEY')]);
    const short = await runAkin(['analyze-node', '--host', '0.0.0.0', '--port', '0'], {
      env: { AKIN_FLEET_KEY: 'short' },
    });
    expect([short.code, short.err]).toEqual([1, expect.stringContaining('at least 16')]);
    const env = { AKIN_FLEET_KEY: FLEET_KEY };
    const node = await start(['analyze-node', '--host', '0.0.0.0', '--port', '0', '--threads', '1'], env);
    const [, port] = await node.waitForOutput(/answers at http:\/\/127\.0\.0\.1:(\d+)\//);
    const analyze = (headers: Record<string, string>) =>
      status(
        `http://127.0.0.1:${port}/api/cores/any/analyze`,
        { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        'input.data=aGVsbG8%3D',
      );
    expect(await analyze({})).toBe(401);
    expect(await analyze(bearer(`${FLEET_KEY}.`))).toBe(401);
    // The key is accepted; the error is about the picture.
    expect(await analyze({ 'x-api-key': FLEET_KEY })).toBe(415);
    expect(`${node.out}${node.err}`).not.toContain(FLEET_KEY);
  });
});
