import { AkinRequestError, KeyError } from '@akin/client';
import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import type { Model } from '../model.ts';
import { watchFigures } from './watch-figures.ts';

beforeEach(() => {
  jest.useFakeTimers();
  Object.assign(globalThis, { document: { hidden: false } });
});
afterEach(() => {
  jest.useRealTimers();
  Reflect.deleteProperty(globalThis, 'document');
});

/**
 * Watches an akin that gives these responses. Stops with the last one. Returns how many times the metrics were shown.
 */
async function shown(responses: readonly (string | Error)[]): Promise<number> {
  const left = [...responses];
  const end = new AbortController();
  const metrics = jest.fn(async () => {
    const response = left.shift() ?? '';
    if (left.length === 0) end.abort();
    if (response instanceof Error) throw response;
    return response;
  });
  const update = jest.fn();
  const watching = watchFigures({ akin: { metrics }, update } as unknown as Model, end.signal);
  await jest.runAllTimersAsync();
  await watching;
  return update.mock.calls.length;
}

it('go on after an error that may pass', async () => {
  const responses = [
    new AkinRequestError(0, 'No response.'),
    'process_resident_memory_bytes 1',
    new AkinRequestError(503, 'Busy.'),
    'process_resident_memory_bytes 1',
    '',
  ];
  expect(await shown(responses)).toBe(2);
});

it('are not asked for again when the key does not allow it', async () => {
  expect(await shown([new KeyError(403, 'Not allowed.'), 'process_resident_memory_bytes 1', ''])).toBe(0);
});
