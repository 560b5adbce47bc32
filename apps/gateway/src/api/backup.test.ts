import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MODULES } from '@akin/modules/manifests';
import { descriptorTexts, parseOutputs } from '@akin/modules/vectors';
import { openStore } from '@akin/store';
import type { Store } from '@akin/store/changes';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask, createGateway, type Gateway, testConfig } from '../../test/start-gateway.ts';

let folder: string;
let store: Store;
let gateway: Gateway;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'akin-backup-'));
  // Only the embedded store has this endpoint.
  store = await openStore({ folder: join(folder, 'data'), modules: MODULES, parseOutputs, descriptorTexts });
  gateway = await createGateway(testConfig({ store }));
});
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await store?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const backUp = () => ask(gateway, '/api/backup', { method: 'POST' });

it('a backup is refused while another one is read, until its client has gone', async () => {
  const client = request({ port: gateway.port, host: '127.0.0.1', path: '/api/backup', method: 'POST' }).end();
  const [response] = await once(client, 'response');
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'application/gzip']);
  // It cannot end during this transaction, also where the system holds all of it for a client that does not read.
  await store.engine.transaction(async () => {
    expect(await backUp()).toMatchObject({
      status: 409,
      json: { error: { msg: expect.stringContaining('Another backup') } },
    });
    response.destroy();
  });
  const again = async (): Promise<number> => {
    const whole = await fetch(`http://127.0.0.1:${gateway.port}/api/backup`, { method: 'POST' });
    const { byteLength } = await whole.arrayBuffer();
    return whole.ok ? byteLength : again();
  };
  expect(await again()).toBeGreaterThan(100_000);
});
