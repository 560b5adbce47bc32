import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { ask, createGateway, FORM_BODY, postJson, testConfig } from '../../test/start-gateway.ts';
import { startService } from '../../test/start-service.ts';
import { Semaphore } from './semaphore.ts';

const FOR_EVER = new AbortController().signal;

afterEach(() => {
  jest.useRealTimers();
});

describe('a semaphore', () => {
  it('admits some, lets some wait, and refuses the others', async () => {
    const semaphore = new Semaphore('things', { concurrent: 1, queued: 1, queueMilliseconds: 60_000 });
    const release = await semaphore.acquire('a', FOR_EVER);
    const second = semaphore.acquire('a', FOR_EVER);
    await expect(semaphore.acquire('a', FOR_EVER)).rejects.toThrow('Too many things');
    release();
    (await second)();
    (await semaphore.acquire('a', FOR_EVER))();
  });

  it('refuses a request that waits too long, and removes one that is cancelled', async () => {
    const semaphore = new Semaphore('things', { concurrent: 1, queued: 1, queueMilliseconds: 30 });
    const release = await semaphore.acquire('a', FOR_EVER);
    await expect(semaphore.acquire('a', FOR_EVER)).rejects.toThrow('Too many things');
    const gone = new AbortController();
    const waiting = semaphore.acquire('a', gone.signal);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    release();
    (await semaphore.acquire('a', FOR_EVER))();
  });
});

describe('a slot', () => {
  const one = { concurrent: 1, queued: 10, queueMilliseconds: 120_000 };

  it('is free again when work hangs after its signal has aborted, and is released once', async () => {
    jest.useFakeTimers();
    const semaphore = new Semaphore('things', one);
    const gone = new AbortController();
    const release = await semaphore.acquire('a', gone.signal);
    const next = semaphore.acquire('a', FOR_EVER);
    gone.abort(new Error('gone'));
    jest.advanceTimersByTime(60_000);
    await next;
    release();
    const last = semaphore.acquire('a', new AbortController().signal);
    expect(await Promise.race([last, 'waits'])).toBe('waits');
  });

  it('is refused at once to those who would wait too long', async () => {
    jest.useFakeTimers();
    const semaphore = new Semaphore('things', one);
    const release = await semaphore.acquire('a', FOR_EVER);
    jest.advanceTimersByTime(320_000);
    release();
    // The average is 40 s now.
    const running = await semaphore.acquire('a', FOR_EVER);
    const waiting = [1, 2, 3].map(() => semaphore.acquire('a', FOR_EVER));
    await expect(semaphore.acquire('a', FOR_EVER)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 2 });
    running();
    for (const one of waiting) (await one)();
  });
});

describe('a fair semaphore', () => {
  const fair = () => new Semaphore('things', { concurrent: 4, queued: 4, queueMilliseconds: 60_000, fair: true });

  it('keeps one client from using all slots, and lets others overtake its waiting requests', async () => {
    const semaphore = fair();
    const inside = [];
    for (let i = 0; i < 3; i++) inside.push(await semaphore.acquire('a', FOR_EVER));
    const order: string[] = [];
    const acquire = (client: string) => semaphore.acquire(client, FOR_EVER).finally(() => order.push(client));
    const waiting = [acquire('a'), acquire('a')];
    const ofB = await acquire('b');
    const second = acquire('b');
    ofB();
    (await second)();
    expect(order).toEqual(['b', 'b']);
    for (const release of inside) release();
    for (const release of await Promise.all(waiting)) release();
    expect(order).toEqual(['b', 'b', 'a', 'a']);
  });

  it('keeps one client from filling the queue', async () => {
    const semaphore = fair();
    for (let i = 0; i < 3; i++) await semaphore.acquire('a', FOR_EVER);
    const gone = new AbortController();
    const line = Array.from({ length: 3 }, () => semaphore.acquire('a', gone.signal));
    await expect(semaphore.acquire('a', FOR_EVER)).rejects.toThrow('Too many things');
    const release = await semaphore.acquire('b', FOR_EVER);
    const second = semaphore.acquire('b', FOR_EVER);
    release();
    (await second)();
    gone.abort(new Error('gone'));
    for (const one of line) await expect(one).rejects.toThrow('gone');
  });

  it('does not limit akin itself to a share', async () => {
    const semaphore = fair();
    for (let i = 0; i < 4; i++) await semaphore.acquire(undefined, FOR_EVER);
  });
});

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
});
