import { setTimeout as delay } from 'node:timers/promises';
import { openProxy } from '@akin/testing';
import { describe, expect, it } from '@jest/globals';
import type { Queue } from '../src/index.ts';

const PAYLOAD = { collection: 1, request: '1', position: 0, attempt: 1, image: 'http://images.example/a.jpg' };

interface Log {
  readonly log: { readonly warn: (fields: object, message: string) => void };
}

/** Tests of a queue while its server is away and after it is back. */
export function brokenServer(
  name: string,
  serverUrl: () => string,
  open: (url: string, log?: Log) => Promise<Queue>,
): void {
  describe(`a queue whose ${name} goes away`, () => {
    it.each([
      ['while its worker is still connecting', []],
      ['while its worker waits for jobs', ['before']],
    ])('refuses jobs at once %s, and works on by itself when it is back', async (_, before) => {
      await using proxy = await openProxy(serverUrl());
      const warnings: string[] = [];
      const log = { warn: (_fields: object, message: string) => void warnings.push(message) };
      await using queue = await open(proxy.url, { log });
      const handled: string[] = [];
      const untilHandled = async (id: string) => {
        while (!handled.includes(id)) await delay(5);
      };
      queue.work('analyze', async ({ id }) => void handled.push(id), { concurrency: 1 });
      for (const id of before) {
        await queue.add('analyze', PAYLOAD, { id });
        await untilHandled(id);
      }
      await proxy.cut();
      // The call must fail now, not only when the server is back.
      await expect(queue.add('analyze', PAYLOAD, { id: 'during' })).rejects.toThrow();
      await proxy.mend();
      const added = () =>
        queue.add('analyze', PAYLOAD, { id: 'after' }).then(
          () => true,
          () => false,
        );
      while (!(await added())) await delay(5);
      await untilHandled('after');
      expect(warnings).toContain(`the queue has trouble with ${name}`);
    });

    it('says so at whatever reply of the server that is while it opens', async () => {
      const failures: string[] = [];
      for (let replies = 1; ; replies++) {
        let left = replies;
        const proxy = await openProxy(serverUrl(), () => {
          if (--left === 0) void proxy.cut();
        });
        const opened = await open(proxy.url).catch((error: Error) => error);
        await proxy.cut();
        if (!(opened instanceof Error)) {
          await opened[Symbol.asyncDispose]();
          break;
        }
        failures.push(opened.name);
      }
      expect(failures.length).toBeGreaterThan(1);
      expect(new Set(failures)).toEqual(new Set(['QueueUnavailableError']));
    });

    it('closes while it starts', async () => {
      await using proxy = await openProxy(serverUrl());
      const queue = await open(proxy.url);
      const handled = new Promise((resolve) => {
        queue.work('analyze', async () => resolve('done'), { concurrency: 1 });
      });
      await queue.add('analyze', PAYLOAD, { id: 'a' });
      await handled;
      await proxy.cut();
      await expect(queue.counts('analyze')).rejects.toThrow();
      // The server never comes back.
      await queue[Symbol.asyncDispose]();
    });
  });
}
