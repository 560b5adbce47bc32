import { getEventListeners } from 'node:events';
import { AkinError } from '@akin/domain';
import { commit } from '@akin/store/changes';
import { findCollection } from '@akin/store/database';
import { describe, expect, it } from '@jest/globals';
import { ask, type TestRequest } from '../../test/start-gateway.ts';
import { useCollection, useService } from '../../test/start-service.ts';
import { Feed } from '../changes/feed.ts';

interface Event {
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of all shapes
  readonly data: any;
}

let gone = /gone/;
const service = useService({
  analyze: async (input) => {
    if ('url' in input && gone.test(input.url)) throw new AkinError('image-unreachable', 'The server answered 404.');
    return { outputs: '{}' };
  },
});

describe('a failed change', () => {
  const PATH = useCollection(service, 'retried');
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${service.gateway.url}${PATH}${path}`, init);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const post = (path: string, body?: unknown) =>
    ask(path, {
      method: 'POST',
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });

  it('is reported with its reason, counted by it, and retried on request', async () => {
    const documents = ['a', 'b'].map((id) => ({ id, image: `http://images.example/${id}.jpg` }));
    gone = /\.jpg$/;
    expect((await post('/update', documents)).status).toBe(422);
    gone = /gone/;
    expect((await ask('/operations?state=failed')).body.operations).toMatchObject([
      { operation: 'retried-1', id: 'a', state: 'failed', reason: { code: 'image-unreachable' } },
      { operation: 'retried-2', id: 'b' },
    ]);
    expect((await ask('')).body).toMatchObject({ failed: 2, failures: { 'image-unreachable': 2 } });
    expect(await post('/operations/retried-1/retry')).toMatchObject({
      status: 200,
      body: { operation: 'retried-1', id: 'a' },
    });
    expect((await post('/operations/retry?reason=image-undecodable')).body).toMatchObject({ retried: 0 });
    expect((await post('/operations/retry?reason=image-unreachable')).body).toMatchObject({
      retried: 1,
      superseded: 0,
      conflicting: 0,
    });
    await post('/update?commit=true&waitAnalysis=true');
    expect((await ask('/select?fl=id&sort=id asc')).body.response).toMatchObject({ docs: [{ id: 'a' }, { id: 'b' }] });
  });

  it('is not retried if it did not fail, does not exist, or the request is a GET', async () => {
    expect(await post('/operations/retried-1/retry')).toMatchObject({
      status: 409,
      body: { error: { msg: 'Only failed operations can be retried. This one is visible.' } },
    });
    expect(await post('/operations/retried-99/retry')).toMatchObject({ status: 404 });
    expect(await post('/operations/retry?reason=rain')).toMatchObject({ status: 400 });
    expect(await ask('/operations/retried-1/retry')).toMatchObject({ status: 405 });
  });
});

describe('the runs of programs that index', () => {
  const send = (path: string, options: TestRequest = {}) => ask(service.gateway, path, options);
  const PATH = '/api/cores/my-collection/runs';
  const FAILURE = { path: '/photos/ä "1".heic', code: 'unsupported-image', msg: 'HEIC is not read.' };
  const put = (id: string, report: object) =>
    send(`${PATH}/${id}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ source: '/photos', state: 'running', ...report }),
    });
  const post = (id: string, what: string) => send(`${PATH}/${id}/${what}`, { method: 'POST' });
  const list = async () => (await send(PATH)).json.runs;

  describe('runs', () => {
    it('are listed as last reported, and can be dismissed after their end', async () => {
      expect((await put('one', { total: 5, done: 1, failed: 2, failures: [FAILURE], secondsLeft: 3 })).status).toBe(
        200,
      );
      expect((await post('one', 'dismiss')).json.error.msg).toMatch(/still active/);
      await put('one', { total: 5, done: 3, failed: 2 });
      await put('one', { state: 'done', total: 5, done: 3, failed: 2 });
      expect(await list()).toEqual([
        {
          id: 'one',
          source: '/photos',
          state: 'done',
          total: 5,
          done: 3,
          unchanged: 0,
          failed: 2,
          failures: [FAILURE],
          failuresMore: 1,
          secondsLeft: null,
          startedAt: expect.stringMatching(/^20.*Z$/),
        },
      ]);
      // Another process did the run.
      const { status, json } = await post('one', 'retry');
      expect([status, json.error.msg]).toEqual([409, expect.stringContaining('akin index /photos')]);
      expect((await post('one', 'dismiss')).status).toBe(200);
      expect(await list()).toEqual([]);
      expect((await post('one', 'dismiss')).status).toBe(404);
    });

    it('are limited to the newest ten', async () => {
      for (let i = 0; i < 12; i++) await put(`run-${i}`, { state: 'done' });
      expect((await list()).map(({ id }: { id: string }) => id)).toEqual(
        Array.from({ length: 10 }, (_, i) => `run-${11 - i}`),
      );
    });

    it.each([
      ['a', { state: 'odd' }],
      ['a', { failures: [{ path: '/x' }] }],
      ['a'.repeat(101), {}],
    ])('are refused if invalid: %s %j', async (id, report) => {
      expect((await put(id, report)).status).toBe(400);
    });
  });
});

describe('the stream of changes', () => {
  const address = (path: string) => `${service.gateway.url}/api/cores/my-collection${path}`;
  const post = (documents: unknown, query = '?async=true') =>
    fetch(address(`/update${query}`), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(documents),
    });
  const publish = async () => commit(service.store, await findCollection(service.store, 'my-collection'));

  /**
   * Reads events of one kind until it has the wanted number, or the wanted ones.
   *
   * @param listens called when the stream has sent something: from then on it reports changes
   */
  async function read(
    wanted: number | ((events: readonly Event[]) => boolean),
    headers: Record<string, string> = {},
    query = '',
    kind = 'operation',
    listens: () => void = () => {},
  ) {
    const response = await fetch(address(`/operations/stream${query}`), { headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    const events: Event[] = [];
    const isComplete = () => (typeof wanted === 'number' ? events.length >= wanted : wanted(events));
    for (let text = ''; !isComplete(); ) {
      const { done, value } = await reader.read();
      if (done) break;
      text += value;
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1];
        if (field('event') === 'status') listens();
        if (field('event') !== kind) continue;
        events.push({ event: kind, id: field('id'), data: JSON.parse(field('data') ?? 'null') });
      }
    }
    await reader.cancel();
    return events;
  }

  it('sends changes in their order, each when it and all earlier ones are finished', async () => {
    await service.pause();
    await post([{ id: 'slow', image: 'http://images.example/slow.jpg' }]);
    await post([{ id: 'quick' }, { id: 'bad', image: 'http://images.example/gone.jpg' }, { delete: 'x', id: 'y' }]);
    await publish();
    const all = read(4, {}, '?cursor=0');
    service.resume();
    const settled = all.then(() => true);
    while (!(await Promise.race([settled, publish().then(() => false)])));
    const events = await all;
    expect(events.map(({ id, data }) => [id, data.id, data.state])).toEqual([
      ['1', 'slow', 'visible'],
      ['2', 'quick', 'visible'],
      ['3', 'bad', 'failed'],
      ['4', 'y', 'visible'],
    ]);
    expect(events[2]?.data.reason.code).toBe('image-unreachable');
  });

  it('continues after the last event that was seen, and starts with the present', async () => {
    expect((await read(2, { 'last-event-id': '2' })).map(({ id }) => id)).toEqual(['3', '4']);
    let fromNow = Promise.resolve<Event[]>([]);
    // The first event is the state.
    await new Promise<void>((listens) => {
      fromNow = read(1, {}, '', 'operation', listens);
    });
    const many = Array.from({ length: 20 }, () => read(2, {}, '?cursor=4'));
    await post([{ id: 'next' }, { id: 'more' }], '?commit=true');
    expect((await fromNow)[0]?.id).toBe('5');
    for (const one of await Promise.all(many)) expect(one.map(({ id }) => id)).toEqual(['5', '6']);
  });

  it('sends the state of the collection when it changes', async () => {
    const before = (await ask(service.gateway, '/api/cores/my-collection')).json.documents;
    let states = Promise.resolve<Event[]>([]);
    // At first, the stream may send an earlier state. In between, the change may be accepted and not visible yet.
    const isVisible = (events: readonly Event[]) => events.at(-1)?.data.documents === before + 1;
    await new Promise<void>((listens) => {
      states = read(isVisible, {}, '', 'status', listens);
    });
    expect((await post([{ id: 'another' }], '?commit=true')).status).toBe(200);
    expect((await states).length).toBeGreaterThan(1);
  });

  it('leaves no listeners on its signals, however often it polls', async () => {
    const reader = new AbortController();
    const feed = new Feed(service.store, 'my-collection', new AbortController().signal);
    const stop = feed.listen();
    for (let look = 0; look < 3; look++) {
      await feed.next(feed.pollNumber, reader.signal);
      expect(getEventListeners(reader.signal, 'abort')).toEqual([]);
    }
    stop();
  });

  it('does not wait for another poll if one happened while it read', async () => {
    const end = new AbortController();
    const feed = new Feed(service.store, 'my-collection', end.signal);
    const stop = feed.listen();
    const before = feed.pollNumber;
    const { signal } = new AbortController();
    await feed.next(before, signal);
    // There are no more polls.
    stop();
    await feed.next(before, signal);
    expect(feed.pollNumber).toBeGreaterThan(before);
    end.abort();
  });

  it('refuses an invalid cursor', async () => {
    expect((await fetch(address('/operations/stream?cursor=x'))).status).toBe(400);
    expect((await fetch(address('/operations/stream').replace('my-', 'no-'))).status).toBe(404);
    expect((await fetch(address('/operations/stream'), { method: 'HEAD' })).status).toBe(200);
  });

  it('ends with its gateway, and frees the places of clients that left', async () => {
    const response = await fetch(address('/operations/stream'));
    const text = response.text();
    await service.gateway[Symbol.asyncDispose]();
    expect(await text).toMatch(/^retry: \d+/);
  });
});
