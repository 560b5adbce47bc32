import { type ReplicatedPostgres, replicatedPostgres } from '@akin/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runAkin, until } from './akin.ts';
import { FleetProcess } from './fleet.ts';

let servers: ReplicatedPostgres;
let gateway: FleetProcess;
let indexer: FleetProcess;
const all = () => [gateway, indexer];

beforeAll(async () => {
  servers = await replicatedPostgres();
  const env = { DATABASE_URL: servers.primary.url, REDIS_URL: '' };
  gateway = new FleetProcess('gateway', {
    ...env,
    SEARCH_DATABASE_URL: servers.standbys[0]?.url,
  });
  indexer = new FleetProcess('indexer', env);
  await Promise.all(all().map((one) => one.start()));
  for (const one of all()) await until(`${one.name} is ready`, () => one.isReady());
});
afterAll(async () => {
  for (const one of all()) await one?.kill();
  await servers?.[Symbol.asyncDispose]();
});

describe('a gateway with a standby', () => {
  const standby = () => servers.standbys[0] as ReplicatedPostgres['standbys'][number];
  const collection = () => gateway.client.collection('my-collection');
  const add = async (id: string) => (await collection().add([{ id }], { commit: true })).responseHeader.token as string;
  const found = async (parameters: Record<string, string | number> = {}) =>
    (await collection().select({ rows: 0, ...parameters })).response.numFound;
  /** How many reads of the standby had a result, and whether it is searched. */
  const figures = async () => {
    const text = String((await gateway.get('/metrics')).body);
    const number = (pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);
    return {
      answered: number(/^akin_standby_reads_total\{.*result="answered"\} (\d+)/m),
      behind: number(/^akin_standby_reads_total\{.*result="behind"\} (\d+)/m),
      up: number(/^akin_standby_up\{.*\} (\d)/m),
    };
  };

  it('searches it, waits for tokens, and never shows less than before', async () => {
    await until('the standby is searched', async () => (await figures()).up === 1);
    const first = await add('a');
    await standby().catchUp();
    const before = (await figures()).answered;
    expect([await found({ after: first }), await found()]).toEqual([1, 1]);
    // The token is looked up there, too.
    expect((await figures()).answered).toBeGreaterThanOrEqual(before + 3);
    await standby().pause();
    const second = await add('b');
    expect([await found({ after: second }), await found()]).toEqual([2, 2]);
    // The changes of an older token are visible.
    expect(await found({ after: first })).toBeGreaterThanOrEqual(1);
    expect((await figures()).behind).toBeGreaterThan(0);
    expect(await collection().getByIds(['b'])).toHaveLength(1);
    await standby().resume();
    await standby().catchUp();
  });

  it('uses the primary after the standby is killed, and says so', async () => {
    await standby().kill();
    expect(await found()).toBe(2);
    await until('it is left out', async () => (await figures()).up === 0);
    expect((await gateway.get('/health/ready')).body).toEqual({
      status: 'OK',
      warnings: [expect.stringContaining('1 of 1 standbys')],
    });
    const { out } = await runAkin(['status', '--url', gateway.url]);
    expect(out).toMatch(/^standby: 127\.0\.0\.1:\d+\/postgres, left out, the log of the gateway says why$/m);
    await standby().start();
    await until('it is searched again', async () => (await figures()).up === 1);
    expect((await gateway.get('/health/ready')).body).toEqual({ status: 'OK' });
  });
});
