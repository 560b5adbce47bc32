import { setMaxListeners } from 'node:events';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Semaphore } from './semaphore.ts';

const NEVER = new AbortController().signal;
setMaxListeners(0, NEVER);

afterEach(() => {
  jest.useRealTimers();
});

describe('a semaphore', () => {
  /** Enters, and notes in `order` when it is in. */
  const acquiring = (semaphore: Semaphore, order: string[], name: string, weight = 1, urgent = false, signal = NEVER) =>
    semaphore.acquire(signal, { urgent, weight }).then((release) => {
      order.push(name);
      return release;
    });

  it('never lets more weight in than it has capacity, and lets everybody in at last', async () => {
    const semaphore = new Semaphore(100);
    let inside = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const weight = [1, 7, 60, 100][i % 4] as number;
        const release = await semaphore.acquire(NEVER, { urgent: i % 3 === 0, weight });
        inside += weight;
        most = Math.max(most, inside);
        await new Promise(setImmediate);
        inside -= weight;
        release();
      }),
    );
    expect([most, semaphore.taken, semaphore.waiting]).toEqual([100, 0, 0]);
  });

  it('lets urgent callers in first, each kind in the order in which they came', async () => {
    const semaphore = new Semaphore(1);
    const order: string[] = [];
    const release = await acquiring(semaphore, order, 'first');
    const all = [
      acquiring(semaphore, order, 'a'),
      acquiring(semaphore, order, 'B', 1, true),
      acquiring(semaphore, order, 'c'),
      acquiring(semaphore, order, 'D', 1, true),
    ].map(async (entered) => (await entered)());
    release();
    await Promise.all(all);
    expect(order).toEqual(['first', 'B', 'D', 'a', 'c']);
  });

  it('lets no light one pass a heavy one that waits, unless it is urgent', async () => {
    const semaphore = new Semaphore(10);
    const order: string[] = [];
    const release = await acquiring(semaphore, order, 'half', 5);
    const heavy = acquiring(semaphore, order, 'heavy', 8);
    const light = acquiring(semaphore, order, 'light', 1);
    (await acquiring(semaphore, order, 'urgent', 5, true))();
    expect(order).toEqual(['half', 'urgent']);
    release();
    await Promise.all([heavy, light]);
    expect(order).toEqual(['half', 'urgent', 'heavy', 'light']);
  });

  it('takes one alone that is heavier than its capacity', async () => {
    const semaphore = new Semaphore(10);
    const order: string[] = [];
    const release = await acquiring(semaphore, order, 'light', 1);
    const heavy = acquiring(semaphore, order, 'heavy', 1000);
    const last = acquiring(semaphore, order, 'last', 1);
    release();
    (await heavy)();
    (await last)();
    expect([order, semaphore.taken]).toEqual([['light', 'heavy', 'last'], 0]);
  });

  it('gives back a part, and nothing twice', async () => {
    const semaphore = new Semaphore(10);
    const release = await semaphore.acquire(NEVER, { weight: 10 });
    const next = semaphore.acquire(NEVER, { weight: 6 });
    release(4);
    await next;
    expect(semaphore.taken).toBe(10);
    release();
    release();
    expect(semaphore.taken).toBe(6);
  });

  it('forgets requests that give up, and admits those that waited behind them', async () => {
    const semaphore = new Semaphore(10);
    const order: string[] = [];
    const release = await acquiring(semaphore, order, 'half', 5);
    const stop = new AbortController();
    const heavy = acquiring(semaphore, order, 'heavy', 8, false, stop.signal);
    const light = acquiring(semaphore, order, 'light', 5);
    stop.abort(new Error('enough'));
    await expect(heavy).rejects.toThrow('enough');
    await light;
    await expect(acquiring(semaphore, order, 'late', 1, true, stop.signal)).rejects.toThrow('enough');
    release();
    expect([order, semaphore.taken]).toEqual([['half', 'light'], 5]);
  });
});

describe('a semaphore with a bounded queue', () => {
  const refusal = (isShare: boolean) => new Error(isShare ? 'the share is used up' : 'it is full');
  const one = { queued: 10, queueMilliseconds: 120_000, refusal };

  it('refuses callers who would wait too long, or wait too long, and forgets those who give up', async () => {
    const semaphore = new Semaphore(1, { queued: 1, queueMilliseconds: 30, refusal });
    const release = await semaphore.acquire(NEVER);
    await expect(semaphore.acquire(NEVER)).rejects.toThrow('it is full');
    const gone = new AbortController();
    const waiting = semaphore.acquire(gone.signal);
    await expect(semaphore.acquire(NEVER)).rejects.toThrow('it is full');
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    release();
    (await semaphore.acquire(NEVER))();
  });

  it('refuses at once those who would probably wait too long', async () => {
    jest.useFakeTimers();
    const semaphore = new Semaphore(1, one);
    const release = await semaphore.acquire(NEVER);
    jest.advanceTimersByTime(320_000);
    release();
    // The average is 40 s now.
    const running = await semaphore.acquire(NEVER);
    const waiting = [1, 2, 3].map(() => semaphore.acquire(NEVER));
    await expect(semaphore.acquire(NEVER)).rejects.toThrow('it is full');
    running();
    for (const one of waiting) (await one)();
  });

  it('takes a slot away when work hangs after its signal has aborted, once', async () => {
    jest.useFakeTimers();
    const semaphore = new Semaphore(1, { ...one, abandonedMilliseconds: 60_000 });
    const gone = new AbortController();
    const release = await semaphore.acquire(gone.signal);
    const next = semaphore.acquire(NEVER);
    gone.abort(new Error('gone'));
    jest.advanceTimersByTime(60_000);
    await next;
    release();
    const last = semaphore.acquire(new AbortController().signal);
    expect(await Promise.race([last, 'waits'])).toBe('waits');
  });
});

describe('a semaphore with shares', () => {
  const create = () => new Semaphore(4, { perClient: 3, queued: 4, queuedPerClient: 3 });
  const [a, b] = [{ client: 'a' }, { client: 'b' }];

  it('keeps one client from using all slots, and lets others overtake its waiting requests', async () => {
    const semaphore = create();
    const inside = [];
    for (let i = 0; i < 3; i++) inside.push(await semaphore.acquire(NEVER, a));
    const order: string[] = [];
    const acquire = (caller: { client: string }) =>
      semaphore.acquire(NEVER, caller).finally(() => order.push(caller.client));
    const waiting = [acquire(a), acquire(a)];
    const ofB = await acquire(b);
    const second = acquire(b);
    ofB();
    (await second)();
    expect(order).toEqual(['b', 'b']);
    for (const release of inside) release();
    for (const release of await Promise.all(waiting)) release();
    expect(order).toEqual(['b', 'b', 'a', 'a']);
  });

  it('keeps one client from filling the queue', async () => {
    const semaphore = create();
    for (let i = 0; i < 3; i++) await semaphore.acquire(NEVER, a);
    const gone = new AbortController();
    const line = Array.from({ length: 3 }, () => semaphore.acquire(gone.signal, a));
    await expect(semaphore.acquire(NEVER, a)).rejects.toThrow('no capacity');
    const release = await semaphore.acquire(NEVER, b);
    const second = semaphore.acquire(NEVER, b);
    release();
    (await second)();
    gone.abort(new Error('gone'));
    for (const one of line) await expect(one).rejects.toThrow('gone');
  });

  it('does not limit akin itself to a share', async () => {
    const semaphore = create();
    for (let i = 0; i < 4; i++) await semaphore.acquire(NEVER);
  });

  it('without a capacity limits only clients', async () => {
    const semaphore = new Semaphore(Number.POSITIVE_INFINITY, { perClient: 1 });
    const release = await semaphore.acquire(NEVER, a);
    const next = semaphore.acquire(NEVER, a);
    const [first, second] = [await semaphore.acquire(NEVER, b), semaphore.acquire(NEVER, { ...b, urgent: true })];
    release();
    (await next)();
    first();
    (await second)();
    expect([semaphore.taken, semaphore.waiting]).toEqual([0, 0]);
  });
});

describe('a reservation', () => {
  const refusal = (isShare: boolean) => new Error(isShare ? 'the share is used up' : 'it is full');
  const create = () => new Semaphore(100, { perClient: 75, refusal });

  it('is limited, but a single one grows to any size, and what is released is free again', () => {
    const semaphore = create();
    const [first, second] = [semaphore.open(NEVER, undefined), semaphore.open(NEVER, undefined)];
    first.growTo(150);
    expect(() => second.growTo(1)).toThrow('it is full');
    first.growTo(120);
    first.growTo(160);
    first.release();
    second.growTo(60);
    first.growTo(40);
    expect(() => first.growTo(41)).toThrow('it is full');
    second.release();
    first.growTo(41);
  });

  it('is limited to a share per client, so that others get some', () => {
    const semaphore = create();
    const [first, second] = [semaphore.open(NEVER, 'a'), semaphore.open(NEVER, 'a')];
    first.growTo(70);
    expect(() => second.growTo(6)).toThrow('the share is used up');
    semaphore.open(NEVER, 'b').growTo(25);
    second.growTo(5);
    first.release();
    second.growTo(75);
    second.release();
    semaphore.open(NEVER, 'a').growTo(75);
  });

  it('does not grow for a request that has ended', () => {
    const semaphore = create();
    const gone = new AbortController();
    const reservation = semaphore.open(gone.signal, 'a');
    reservation.growTo(50);
    gone.abort(new Error('gone'));
    reservation.release();
    expect(() => reservation.growTo(60)).toThrow('gone');
    expect(semaphore.taken).toBe(0);
  });
});
