import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import type { Request, Response } from 'express';
import type { Access } from '../access/gate.ts';
import { writeStream } from './write-stream.ts';

it('waits for a slow reader repeatedly with the same few listeners', async () => {
  const pieces = 40;
  const listeners: number[] = [];
  const access = { isValid: async () => true } as Access;
  const server = createServer(async (request, response) => {
    async function* events() {
      for (let i = 0; i < pieces; i++) {
        listeners.push(
          response.listenerCount('close') + response.listenerCount('drain') + response.listenerCount('error'),
        );
        yield 'x'.repeat(1024 ** 2);
      }
    }
    await writeStream({ type: 'text/plain', chunks: events }, request as Request, response as Response, access);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const length = await new Promise<number>((resolve, reject) => {
    get({ port, host: '127.0.0.1', agent: false }, (response) => {
      let count = 0;
      response.on('data', (chunk) => {
        count += chunk.length;
      });
      response.on('error', reject).on('end', () => resolve(count));
    }).on('error', reject);
  });
  await new Promise((resolve) => server.close(resolve));
  expect([length, listeners.length]).toEqual([pieces * 1024 ** 2, pieces]);
  expect(Math.max(...listeners)).toBe(listeners[0]);
});
