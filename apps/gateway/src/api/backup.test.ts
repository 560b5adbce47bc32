import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ask } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

const backUp = () => ask(service.gateway, '/api/backup', { method: 'POST' });

it('a backup is refused while another one is read, until its client has gone', async () => {
  const client = request({ port: service.gateway.port, host: '127.0.0.1', path: '/api/backup', method: 'POST' }).end();
  const [response] = await once(client, 'response');
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'application/gzip']);
  expect(await backUp()).toMatchObject({
    status: 409,
    json: { error: { msg: expect.stringContaining('Another backup') } },
  });
  response.destroy();
  const again = async (): Promise<number> => {
    const whole = await fetch(`http://127.0.0.1:${service.gateway.port}/api/backup`, { method: 'POST' });
    const { byteLength } = await whole.arrayBuffer();
    return whole.ok ? byteLength : again();
  };
  expect(await again()).toBeGreaterThan(100_000);
});
