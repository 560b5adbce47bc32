import { expect, it } from '@jest/globals';
import { withTimeout } from './with-timeout.ts';

it('gives what comes in time, rejects with what fails, and ends the wait for what never comes', async () => {
  expect(await withTimeout(60_000, Promise.resolve(1))).toBe(1);
  await expect(withTimeout(60_000, Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  await expect(withTimeout(10, new Promise(() => {}))).rejects.toThrow('not done within 10 ms');
});
