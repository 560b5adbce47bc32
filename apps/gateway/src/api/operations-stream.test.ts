import { getEventListeners } from 'node:events';
import { AkinError } from '@akin/domain';
import { commit, findCollection } from '@akin/store';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Service, startService } from '../../test/start-service.ts';
import { Feed } from '../changes/feed.ts';

interface Event {
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of all shapes
  readonly data: any;
}

describe('the stream of changes', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({
      analyze: async (input) => {
        if ('url' in input && input.url.includes('gone')) throw new AkinError('image-unreachable', 'It is gone.');
        return { outputs: '{}' };
      },
    });
  });
  afterAll(async () => service[Symbol.asyncDispose]());

  const address = (path: string) => `${service.gateway.url}/api/cores/my-collection${path}`;
  const post = (documents: unknown, query = '?async=true') =>
    fetch(address(`/update${query}`), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(documents),
    });
  const publish = async () => commit(service.store, await findCollection(service.store, 'my-collection'));

  /**
   * Reads events of one kind until it has the wanted number.
   *
   * @param listens called when the stream has sent something: from then on it reports changes
   */
  async function read(
    count: number,
    headers: Record<string, string> = {},
    query = '',
    kind = 'operation',
    listens: () => void = () => {},
  ) {
    const response = await fetch(address(`/operations/stream${query}`), { headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    const events: Event[] = [];
    for (let text = ''; events.length < count; ) {
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
    service.pause();
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
    let both = Promise.resolve<Event[]>([]);
    await new Promise<void>((listens) => {
      both = read(2, {}, '', 'status', listens);
    });
    expect((await post([{ id: 'another' }], '?commit=true')).status).toBe(200);
    const [before, after] = await both;
    expect(after?.data.documents).toBe(before?.data.documents + 1);
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
