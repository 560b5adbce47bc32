import { createLogger, createMetrics } from '@akin/runtime/observability';
import { freePort } from '@akin/testing';
import { expect, it } from '@jest/globals';
import { answerWhileStarting } from './starting-server.ts';

it('answers 503 while akin starts, also where a key is required, refuses a port in use, and frees its own', async () => {
  const log = createLogger({ name: 'test', level: 'silent' });
  const access = { requireKeys: true };
  const config = { host: '127.0.0.1', port: await freePort(), access, log, metrics: createMetrics() };
  const starting = await answerWhileStarting(config, () => 'akin is starting');
  for (const path of ['/health/ready', '/api/cores/c/select', '/']) {
    const response = await fetch(`${starting.url}${path}`);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    expect(await response.json()).toMatchObject({ error: { code: 503, msg: 'akin is starting' } });
  }
  await expect(answerWhileStarting(config, () => '')).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await starting[Symbol.asyncDispose]();
  await starting[Symbol.asyncDispose]();
  await using next = await answerWhileStarting({ ...config, metrics: createMetrics() }, () => '');
  expect(next.port).toBe(config.port);
});
