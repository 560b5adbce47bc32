import { freePort, type TestDatabase, testDatabase } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { RunningCommand, until } from './akin.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database?.drop());

/** The server's address with another database or user. */
function changed(part: 'pathname' | 'username', value: string): string {
  const url = new URL(database.url);
  url[part] = value;
  url.password = 'the-password';
  return url.href;
}

describe('a fleet that cannot use its database', () => {
  it.each([
    [
      'does not exist',
      () => changed('pathname', '/no_such'),
      /"code":"3D000","cause":"database \\"no_such\\" does not/,
    ],
    ['knows no such user', () => changed('username', 'nobody'), /"code":"28\w{3}","cause":"[^"]+\\"nobody\\"/],
    ['does not answer', () => 'postgres://akin:the-password@127.0.0.1:1/x', /"code":"ECONNREFUSED","cause":"connect E/],
    [
      'has an unknown host',
      () => 'postgres://akin:the-password@postgres.invalid/x',
      /"code":"E\w+","cause":"getaddrinfo/,
    ],
  ])('because it %s says in the log why, and not over HTTP', async (_, url, said) => {
    const port = await freePort();
    const env = { DATABASE_URL: url() };
    const gateway = new RunningCommand(['gateway', '--port', String(port)], { env });
    const analyzer = new RunningCommand(['analyzer', '--port', '0'], { env });
    for (const one of [gateway, analyzer]) {
      await until('the log says so', async () => said.test(one.err));
      expect(one.err).not.toContain('the-password');
    }
    let response: Response | undefined;
    await until('it answers', async () => {
      response = await fetch(`http://127.0.0.1:${port}/health/ready`).catch(() => undefined);
      return response !== undefined;
    });
    expect(response?.status).toBe(503);
    expect(await response?.text()).not.toMatch(/no_such|nobody|ECONN|invalid|the-password/);
    for (const one of [gateway, analyzer]) await one.stop('SIGKILL');
  });
});
