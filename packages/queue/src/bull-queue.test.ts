import { afterEach, expect, it, jest } from '@jest/globals';
import { createErrorReporter } from './bull-queue.ts';

afterEach(() => {
  jest.useRealTimers();
});

it('logs a repeated error once in each outage', () => {
  jest.useFakeTimers();
  let lines = 0;
  const report = createErrorReporter({ warn: () => lines++ }, 'Redis');
  const fail = () => report(new Error('connect ECONNREFUSED'));
  fail();
  for (let second = 0; second < 300; second++) {
    jest.advanceTimersByTime(1_000);
    fail();
  }
  expect(lines).toBe(1);
  jest.advanceTimersByTime(60_000);
  fail();
  expect(lines).toBe(2);
});
