import {
  type Balancer,
  drawImage,
  openBalancer,
  type TestDatabase,
  type TestRedis,
  testDatabase,
  testRedis,
} from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from './akin.ts';
import { FleetProcess } from './fleet.ts';
import { SteadyLoad } from './steady-load.ts';

/** Each process is restarted at least once; AKIN_DRAIN_REQUESTS=10000 continues until that many requests were sent. */
const REQUESTS = Number(process.env.AKIN_DRAIN_REQUESTS ?? 300);
/** A request may be sent to a process that is about to end, on a machine that is busy. */
const DELAY = { AKIN_SHUTDOWN_DELAY: '5' };

/**
 * Restarts one process after the other under load, each as soon as the balancer sends requests to all of them. If a
 * process ends before the balancer has noticed that it is not ready, because one of the two was paused, requests may
 * fail: it is restarted again.
 *
 * @param broken gets other failures
 */
async function restartInTurn(
  processes: readonly FleetProcess[],
  count: number,
  balancer: Balancer,
  send: (number: number) => Promise<number>,
  broken: string[] = [],
): Promise<void> {
  const allUp = async () => (await balancer.countUp()) === count;
  await until('the balancer sends requests to all', allUp);
  let answered = 0;
  for (let round = 0; round === 0 || answered < REQUESTS; round++) {
    for (const one of processes) {
      for (let isInTime = false; !isInTime; ) {
        const load = new SteadyLoad(send);
        const ended = one.stop();
        await until('the balancer has noticed', async () => !(await allUp()));
        isInTime = (await balancer.countNotReady()) === 1;
        expect(await ended).toBe(0);
        await one.start();
        await until('the balancer sends requests to all', allUp);
        const { failures, ...done } = await load.stop();
        answered += done.answered;
        const failed = [...failures, ...broken.splice(0)];
        if (isInTime) expect(failed).toEqual([]);
      }
    }
  }
  console.log(`${answered} requests answered`);
}

describe('behind a load balancer that checks every second', () => {
  let database: TestDatabase;
  let redis: TestRedis;
  let gateways: FleetProcess[];
  let indexer: FleetProcess;
  let analyzers: FleetProcess[];
  const balancers: Balancer[] = [];

  beforeAll(async () => {
    database = await testDatabase();
    redis = await testRedis();
    const env = { DATABASE_URL: database.url, REDIS_URL: redis.url, AKIN_REDIS_PREFIX: redis.prefix, ...DELAY };
    indexer = new FleetProcess('indexer', env);
    gateways = [new FleetProcess('gateway', env), new FleetProcess('gateway', env)];
    analyzers = [1, 2].map(() => new FleetProcess('analyzer', { ...env, AKIN_THREADS: '1' }));
    for (const one of [indexer, ...gateways, ...analyzers]) {
      await one.start();
      await until(`${one.name} is ready`, () => one.isReady());
    }
  });
  afterAll(async () => {
    for (const one of [indexer, ...(gateways ?? []), ...(analyzers ?? [])]) await one?.kill();
    for (const balancer of balancers) await balancer[Symbol.asyncDispose]();
    await redis?.drop();
    await database?.drop();
  });

  const balance = async (processes: readonly FleetProcess[], health: string) => {
    const balancer = await openBalancer(
      processes.map(({ port }) => port),
      health,
    );
    balancers.push(balancer);
    return balancer;
  };

  it('gateways that are restarted in turn drop no request, and end streams in order', async () => {
    const balancer = await balance(gateways, '/health/ready');
    const collection = `${balancer.url}/api/cores/my-collection`;
    const stop = new AbortController();
    const broken: string[] = [];
    const stream = follow(`${collection}/operations/stream?cursor=0`, stop.signal, broken);
    const send = async (number: number) => {
      const response =
        number % 5 > 0
          ? await fetch(`${collection}/select?rows=3`)
          : await fetch(`${collection}/update${number % 50 === 0 ? '?commit=true' : ''}`, {
              method: 'POST',
              headers: { 'content-type': 'application/json' },
              body: JSON.stringify({ id: `d${number}`, number }),
            });
      await response.text();
      return response.status;
    };
    await restartInTurn(gateways, gateways.length, balancer, send, broken);
    stop.abort();
    expect(await stream).toBeGreaterThan(0);
  }, 3_600_000);

  it('an analyzer that is restarted drops no picture of a query', async () => {
    const balancer = await balance(analyzers, '/health/ready?check=http');
    const picture = Buffer.from(await drawImage({ width: 64, height: 64 })).toString('base64');
    const body = new URLSearchParams({ 'input.data': picture, 'modules.apply': 'color' }).toString();
    await restartInTurn(analyzers.slice(1), analyzers.length, balancer, async () => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const response = await fetch(`${balancer.url}/api/cores/any/analyze`, { method: 'POST', headers, body });
      await response.text();
      return response.status;
    });
  }, 3_600_000);
});

/**
 * Listens to changes until it is stopped, and connects again whenever the server ends the stream, as browsers do.
 * @param broken gets the errors of streams that broke
 * @returns how often streams ended
 */
async function follow(url: string, signal: AbortSignal, broken: string[]): Promise<number> {
  let ends = 0;
  while (!signal.aborted) {
    try {
      const response = await fetch(url, { signal });
      if (response.status !== 200) broken.push(`status ${response.status}`);
      for await (const _ of response.body ?? []) {
        // Only its end matters.
      }
      ends++;
    } catch (error) {
      if (!signal.aborted) broken.push((error as Error).message);
    }
  }
  return ends;
}
