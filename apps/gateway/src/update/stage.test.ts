import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ask, createGateway, type Gateway, postJson, testConfig, testStore } from '../../test/start-gateway.ts';

const COLLECTION = '/api/cores/my-collection';
const UPDATE = `${COLLECTION}/update?async=true`;

describe('a large request', () => {
  let made: Awaited<ReturnType<typeof testStore>>;
  let gateway: Gateway;
  beforeAll(async () => {
    made = await testStore();
    gateway = await createGateway(testConfig({ store: made.store }));
    await postJson(gateway, UPDATE, { id: 'first' });
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await made?.remove();
  });

  const documents = (count: number) => Array.from({ length: count }, (_, i) => ({ id: `d${i}` }));
  /** Runs instead of each pause, with the milliseconds that the pause is for. */
  const onPause = (run: (milliseconds: number) => Promise<void>) =>
    jest.spyOn(made.store.throttle, 'pauseAfter').mockImplementation(run);

  it('pauses after each batch, and others are answered meanwhile; a small one does not pause', async () => {
    const answered: number[] = [];
    onPause(async () => {
      answered.push((await ask(gateway, `${COLLECTION}/select?rows=0`)).status);
    });
    expect((await postJson(gateway, UPDATE, documents(20))).status).toBe(202);
    expect(answered).toEqual([]);
    expect((await postJson(gateway, UPDATE, documents(600))).status).toBe(202);
    expect(answered).toEqual([200, 200, 200]);
  });

  it('pauses for the time that the event loop was busy between two batches, too', async () => {
    const headers = { 'content-type': 'application/x-ndjson' };
    const request = httpRequest({ host: '127.0.0.1', port: gateway.port, path: UPDATE, method: 'POST', headers });
    const lines = (count: number) => documents(count).map((one) => `${JSON.stringify(one)}\n`);
    let busy = 0;
    const pauses: number[] = [];
    onPause(async (milliseconds) => {
      if (pauses.push(milliseconds) > 1) return;
      // The next batch begins when this pause has ended.
      setImmediate(() => {
        const began = performance.now();
        while (busy < 300) busy = performance.now() - began;
        request.end(lines(10).join(''));
      });
    });
    request.write(lines(260).join(''));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(202);
    expect(pauses).toHaveLength(2);
    expect(pauses[1]).toBeGreaterThanOrEqual(busy);
  });
});
