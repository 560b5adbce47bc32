import { createLogger } from '@akin/runtime/observability';
import { describe, expect, it, jest } from '@jest/globals';
import { ShutdownStack } from './shutdown-stack.ts';

const log = createLogger({ name: 'test', level: 'silent' });

describe('the parts of a process that must end while it starts', () => {
  it('are closed in reverse order, and no more are opened', async () => {
    const stop = new AbortController();
    const closed: string[] = [];
    const part = (name: string) => ({ [Symbol.asyncDispose]: async () => void closed.push(name) });
    const parts = new ShutdownStack(log, stop.signal);
    parts.use('first', part('first'));
    expect(await parts.unlessStopped(Promise.resolve('opened'))).toBe('opened');
    const waiting = parts.unlessStopped(new Promise(() => {}));
    stop.abort();
    await expect(waiting).rejects.toBe(stop.signal.reason);
    await expect(parts.unlessStopped(Promise.reject(new Error('no longer needed')))).rejects.toBeDefined();
    expect(() => parts.use('second', part('second'))).toThrow(stop.signal.reason);
    await parts[Symbol.asyncDispose]();
    expect(closed).toEqual(['second', 'first']);
  });
});

it('parts that fail, or do not close in time, do not keep other parts from closing, and are named', async () => {
  const closed: string[] = [];
  const lines: string[] = [];
  const parts = new ShutdownStack(createLogger({ name: 'test', destination: { write: (line) => lines.push(line) } }));
  parts.use('store', { [Symbol.asyncDispose]: async () => void closed.push('store') });
  parts.use('hanging', { [Symbol.asyncDispose]: () => new Promise<void>(() => {}) });
  parts.use('failing', { [Symbol.asyncDispose]: () => Promise.reject(new Error('no')) });
  jest.useFakeTimers();
  try {
    const ended = parts[Symbol.asyncDispose]();
    await jest.advanceTimersByTimeAsync(parts.closeMilliseconds);
    await ended;
  } finally {
    jest.useRealTimers();
  }
  expect(closed).toEqual(['store']);
  expect(lines.map((line) => JSON.parse(line)).map(({ phase, err }) => [phase, err?.message])).toEqual([
    ['failing', 'no'],
    // All that was left but for the last one.
    ['hanging', expect.stringMatching(/^not done within 4\d{3} ms$/)],
    ['store', undefined],
  ]);
});

it('all parts share one deadline, which starts after their delays', () => {
  const parts = new ShutdownStack(log);
  const part = { [Symbol.asyncDispose]: async () => {} };
  const { closeMilliseconds } = parts;
  for (let i = 0; i < 5; i++) parts.use('part', part);
  expect(parts.closeMilliseconds).toBe(closeMilliseconds);
  parts.use('door', part, 7_000);
  expect(parts.closeMilliseconds).toBe(closeMilliseconds + 7_000);
});
