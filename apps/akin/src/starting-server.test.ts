import { freePort } from '@akin/testing';
import { expect, it } from '@jest/globals';
import { answerWhileStarting } from './starting-server.ts';

it('answers 503 while akin starts, refuses a port in use, and frees its own', async () => {
  const port = await freePort();
  const starting = await answerWhileStarting('127.0.0.1', port);
  const response = await fetch(`http://127.0.0.1:${port}/api/cores/c/select`);
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
  expect(await response.json()).toMatchObject({ error: { code: 503, msg: expect.stringContaining('is starting') } });
  await expect(answerWhileStarting('127.0.0.1', port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await starting[Symbol.asyncDispose]();
  await starting[Symbol.asyncDispose]();
  await using next = await answerWhileStarting('127.0.0.1', port);
  expect(next).toBeDefined();
});
