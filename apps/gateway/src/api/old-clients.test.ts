import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Exchange, sendRaw } from '../../test/replay.ts';
import { ask } from '../../test/start-gateway.ts';
import { type Service, startService } from '../../test/start-service.ts';

const REPLAYS = new URL('../../test/replays/', import.meta.url);

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
});

/*
 * What real clients of Solr sent, byte for byte, in their order. Each file is one session on an empty collection, with
 * the responses that the client understood. docs/clients.md says what each client can do.
 */
describe.each(readdirSync(REPLAYS).map((file) => file.replace(/\.json$/, '')))('%s', (client) => {
  it('gets the same responses as in the recording', async () => {
    const exchanges: Exchange[] = JSON.parse(readFileSync(new URL(`${client}.json`, REPLAYS), 'utf8'));
    expect(exchanges.length).toBeGreaterThan(3);
    await ask(service.gateway, '/api/cores/my-collection', { method: 'DELETE' });
    expect((await ask(service.gateway, '/api/cores/my-collection', { method: 'PUT' })).status).toBe(201);
    for (const [at, { request, ...expected }] of exchanges.entries()) {
      const sent = `${client} ${at}: ${request.slice(0, request.indexOf('\r\n'))}`;
      expect({ sent, ...(await sendRaw(service.gateway.port, request)) }).toEqual({ sent, ...expected });
    }
  });
});
