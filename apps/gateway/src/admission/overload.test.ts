import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { ask, createGateway, FORM_BODY, postJson, testConfig } from '../../test/start-gateway.ts';
import { startService } from '../../test/start-service.ts';

/** An analysis that lasts until the test ends it. */
function held() {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { release: () => release(), analyze: () => released.then(() => ({ outputs: '{}' })) };
}

describe('an overloaded gateway', () => {
  it('answers 429 with Retry-After if too many pictures wait; uploads do not wait for downloads', async () => {
    const { analyze, release } = held();
    const few = { concurrent: 2, queued: 1, queueMilliseconds: 60_000, fair: true };
    await using gateway = await createGateway(testConfig({ analyze, limits: { fetchedPictures: few } }));
    const fetched = () => ask(gateway, '/api/cores/any/analyze?input.url=http://pictures.example/a.jpg');
    const refusals: number[] = [];
    const responses = Array.from({ length: 6 }, async () => {
      const response = await fetched();
      if (response.status === 429) refusals.push(response.status);
      return response;
    });
    const refused = await Promise.race(responses);
    while (refusals.length < 3) await new Promise((resolve) => setImmediate(resolve));
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([429, true]);
    const sent = ask(gateway, '/api/cores/any/analyze', { body: 'input.data=AAAA', headers: FORM_BODY });
    release();
    expect((await sent).status).toBe(200);
    expect((await Promise.all(responses)).map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429]);
  });

  it('answers 503 above the limit of open requests, but still reports its health', async () => {
    const { analyze, release } = held();
    const store = { ...testConfig().store, ping: async () => {} };
    await using gateway = await createGateway(testConfig({ store, analyze, limits: { openRequests: 2 } }));
    const fetched = () => ask(gateway, '/api/cores/any/analyze?input.url=http://pictures.example/a.jpg');
    const responses = Array.from({ length: 3 }, fetched);
    const refused = await Promise.race(responses);
    expect([refused.status, Number(refused.headers['retry-after']) > 0]).toEqual([503, true]);
    expect((await ask(gateway, '/health/ready')).status).toBe(200);
    release();
    expect((await Promise.all(responses)).map(({ status }) => status).sort()).toEqual([200, 200, 503]);
    expect((await fetched()).status).toBe(200);
  });

  it('accepts small updates while large ones wait, and large ones afterwards', async () => {
    const none = { concurrent: 0, queued: 0, queueMilliseconds: 60_000, fair: true };
    await using service = await startService({ limits: { bulkUpdates: none } });
    const update = (count: number) =>
      postJson(
        service.gateway,
        '/api/cores/my-collection/update?commit=true',
        Array.from({ length: count }, (_, i) => ({ id: String(i) })),
      );
    expect((await update(21)).status).toBe(429);
    expect((await update(20)).status).toBe(200);
  });

  it('answers 503 if too many searches wait', async () => {
    const none = { concurrent: 0, queued: 0, queueMilliseconds: 60_000 };
    await using service = await startService({ limits: { searches: none } });
    expect(
      (await postJson(service.gateway, '/api/cores/my-collection/update?commit=true', { id: '1', tag: 'x' })).status,
    ).toBe(200);
    for (const path of [
      'select',
      'terms?terms.fl=tag',
      'groups',
      'export',
      'tag?tagging.field=tag&tagging.input.url=http://pictures.example/a.jpg',
    ]) {
      const response = await ask(service.gateway, `/api/cores/my-collection/${path}`);
      expect([path, response.status, response.json.error.msg]).toEqual([
        path,
        503,
        expect.stringContaining('Too many searches'),
      ]);
    }
  });

  it('counts the bytes of pictures until their request is answered: further requests get 429', async () => {
    let entered = () => {};
    let leave = () => {};
    const inside = new Promise<void>((resolve) => {
      entered = resolve;
    });
    const answered = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const analyze = async () => {
      entered();
      await answered;
      return { outputs: '{}' };
    };
    await using gateway = await createGateway(testConfig({ analyze, limits: { parameterMemoryBytes: 10_000 } }));
    const picture = () =>
      ask(gateway, '/api/cores/any/analyze', { body: `input.data=${'A'.repeat(8_000)}`, headers: FORM_BODY });
    const first = picture();
    await inside;
    const second = await picture();
    expect([second.status, second.headers['retry-after'], second.json.error.metadata]).toEqual([
      429,
      '2',
      ['error-class', 'too-many-requests'],
    ]);
    leave();
    expect((await first).status).toBe(200);
    expect((await picture()).status).toBe(200);
  });

  it('refuses large bodies with a response that also a client sees which sends everything before it reads', async () => {
    await using gateway = await createGateway(testConfig({ limits: { parameterBytes: 1_000_000 } }));
    const body = `input.data=${'A'.repeat(60_000_000)}`;
    const response = await sendBlindly(gateway.port, '/api/cores/any/analyze', body);
    expect(response).toMatch(/^HTTP\/1\.1 413 .*"error"/s);
  });
});

/** Sends everything, and only then reads. Chunked, so that the size is not known in advance. */
async function sendBlindly(port: number, path: string, body: string): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.pause();
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${FORM_BODY['content-type']}\r\n`;
  const sent = `${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    socket.write(sent, () => resolve());
  });
  let response = '';
  for await (const chunk of socket) response += String(chunk);
  socket.destroy();
  return response;
}
